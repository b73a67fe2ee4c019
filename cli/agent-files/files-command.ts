import { PatchbayError } from '../../runtime/lib/errors.ts'
import { InstanceError } from '../instance/instance-client.ts'
import { applyPlan } from './apply-plan.ts'
import { describeFilesPlan } from './describe-files-plan.ts'
import { FILES_USAGE, type FilesCommand } from './files-usage.ts'
import { readAgentFolder, refuse } from './folder.ts'
import { readInstance } from './instance-state.ts'
import { makePlan } from './make-plan.ts'
import { isSame } from './plan.ts'
import { pull } from './pull.ts'

/** `patchbay pull`, `plan` and `apply`: agents as files. */

const FLAGS: Readonly<Record<FilesCommand, readonly string[]>> = {
  pull: ['--replace'],
  plan: ['--delete', '--secrets'],
  apply: ['--delete', '--secrets', '--publish'],
}

/** What a command prints, and its exit code: 0 done or no difference, 2 a difference. Errors are 1. */
interface Outcome {
  text: string
  code: 0 | 2
}

export async function runFilesCommand(
  command: FilesCommand,
  {
    folder,
    flags,
    env,
  }: { folder: string; flags: readonly string[]; env: Readonly<Record<string, string | undefined>> },
): Promise<Outcome> {
  const unknown = flags.find((flag) => !FLAGS[command].includes(flag.split('=')[0] ?? ''))
  if (unknown !== undefined) refuse([`${unknown} is no option of ${command}\n${FILES_USAGE.trimEnd()}`])
  const options = { env, allSecrets: flags.includes('--secrets') }
  const deletes = flags.includes('--delete')
  try {
    const files = await readAgentFolder(folder)
    const state = await readInstance(folder, env)
    if (command === 'pull')
      return { text: describePulled(await pull(files, state, { replace: flags.includes('--replace') })), code: 0 }
    const plan = await makePlan(files, state, options)
    const text = describeFilesPlan(plan, { deletes })
    if (plan.faults.length > 0) refuse([...(text === '' ? [] : [text]), ...plan.faults])
    const conflicts = plan.resources.filter((one) => one.conflicts.length > 0)
    if (command === 'plan') return { text: text === '' ? 'No difference' : text, code: text === '' ? 0 : 2 }
    if (conflicts.length > 0) {
      refuse([
        text,
        'Nothing was applied: fields marked ! were changed on both sides. Pull, make the files say what shall hold, and apply again',
      ])
    }
    const isNothing = plan.resources.every(isSame) && (!deletes || plan.gone.length === 0)
    const publish = flags.find((flag) => /^--publish(?:=|$)/.test(flag))?.slice('--publish='.length)
    await applyPlan(plan, state, { root: folder, ...options, deletes, publish })
    return { text: isNothing ? (text === '' ? 'No difference' : text) : `${text}\nApplied`, code: 0 }
  } catch (error) {
    if (!(error instanceof InstanceError)) throw error
    throw new PatchbayError('configuration', { params: { reason: error.message }, cause: error })
  }
}

function describePulled({ written, conflicts, kept, secrets }: Awaited<ReturnType<typeof pull>>): string {
  return [
    ...(written.length === 0 ? ['No file changed'] : written.map((path) => `wrote ${path}`)),
    ...kept.map((field) => `kept ${field}, which the file alone changed`),
    ...conflicts.map(
      (field) =>
        `! ${field} was changed here and on the instance; the file keeps its own. Make them equal, or pull --replace`,
    ),
    ...(secrets.length === 0
      ? []
      : [`Secrets that apply needs where it sends them: ${[...new Set(secrets)].join(', ')}`]),
  ].join('\n')
}
