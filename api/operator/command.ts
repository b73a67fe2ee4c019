import { userInfo } from 'node:os'
import { type DerivedConfig, deriveConfig } from '../../config/effective.ts'
import type { Config } from '../../config/schema.ts'
import { readSecret } from '../../config/secrets.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { nearest } from '../../runtime/lib/nearest.ts'
import { auditPage, writeAudit } from '../../store/accounts/audit-log.ts'
import {
  hasUsers,
  type ListedWorkspace,
  listUsers,
  listWorkspaces,
  setOperator,
  setSignup,
  setSuspension,
  signupSetting,
} from '../../store/accounts/instance.ts'
import { beginMaintenance, endMaintenance, maintenanceOf } from '../../store/accounts/maintenance.ts'
import { userByEmail } from '../../store/accounts/users.ts'
import { openStore, type Store } from '../../store/database/database.ts'
import { databaseClockOf } from '../../store/database/database-clock.ts'
import type { LinkKind, SignupMode, User } from '../../store/database/schema.ts'
import { oneTimeLink } from '../auth/links.ts'
import { setupLink, setupToken } from '../auth/setup-token.ts'
import { runStuck, STUCK_COMMANDS, STUCK_USAGE } from './stuck.ts'

/** `patchbay admin …`: the operator's way in by the shell, also for one who can't log in. */

const ADMIN_USAGE = `Usage: patchbay admin <command>

  setup-token                      a link by which the first user signs up from another machine
  users [email]                    everybody who has an account, or the one with this address
  reset-password <email>           a link by which the user chooses a new password
  invite <email>                   a link by which somebody signs up, also while signup is closed
  make-operator <email>            lets a user run the installation
  remove-operator <email>          takes that back
  signup [open|invitation|closed|default]
                                   who may sign up; default: what PATCHBAY_SIGNUP says
  maintenance [on [sentence…]|off] no call begins anywhere, those that run go on
  workspaces                       every workspace
  suspend <slug or id> <reason…>   a workspace starts no call, its keys get 403, its members only read
  resume <slug or id>              ends a suspension
  audit-log [entries]              who did what, newest first

${STUCK_USAGE}
It works on the database of DATABASE_URL, or on the embedded one, whether or not Patchbay runs.
`

const SHOWN = 100
const AT_MOST = { offset: 0, limit: 1_000_000 }

interface Shell {
  readonly store: Store
  readonly config: Pick<DerivedConfig, 'publicUrl' | 'jwtApiSecret' | 'dataDir'>
  readonly args: readonly string[]
}

type Command = (shell: Shell) => Promise<string>

const COMMANDS: Readonly<Record<string, { run: Command; args: [least: number, most: number]; writes: boolean }>> = {
  'setup-token': { run: setupTokenOf, args: [0, 0], writes: false },
  users: { run: users, args: [0, 1], writes: false },
  'reset-password': { run: resetPassword, args: [1, 1], writes: true },
  invite: { run: invite, args: [1, 1], writes: true },
  'make-operator': { run: (shell) => changeOperator(shell, true), args: [1, 1], writes: true },
  'remove-operator': { run: (shell) => changeOperator(shell, false), args: [1, 1], writes: true },
  signup: { run: signup, args: [0, 1], writes: true },
  maintenance: { run: maintenance, args: [0, Number.POSITIVE_INFINITY], writes: true },
  workspaces: { run: workspaces, args: [0, 0], writes: false },
  suspend: { run: suspend, args: [2, Number.POSITIVE_INFINITY], writes: true },
  resume: { run: resume, args: [1, 1], writes: true },
  'audit-log': { run: auditLog, args: [0, 1], writes: false },
}

/** Runs one command and returns what it has to say. Throws `configuration` with the cure for what can't be done. */
export async function runAdmin(
  words: readonly string[],
  options: { config: Config; databaseUrl: string; redisUrl?: string | undefined },
): Promise<string> {
  if (words[0] === undefined || words[0] === 'help') return ADMIN_USAGE
  const stuck = namedBy(STUCK_COMMANDS, words)
  const own = stuck === undefined ? namedBy(COMMANDS, words) : undefined
  const found = stuck ?? own
  if (found === undefined) {
    const [name] = words
    const near = nearest(name, [...Object.keys(COMMANDS), ...Object.keys(STUCK_COMMANDS)])
    throw fault(
      `"${name}" is no command of admin${near ? `, did you mean "${near}"?` : '.'} See: npm run patchbay admin help`,
    )
  }
  const { command, name, args } = found
  const [least, most] = command.args
  if (args.length < least || args.length > most) {
    throw fault(`"admin ${name}" takes other arguments. See: npm run patchbay admin help`)
  }
  const config = deriveConfig(options.config)
  const store = openStore({ databaseUrl: options.databaseUrl, maxConnections: 2 })
  try {
    const said =
      stuck === undefined
        ? await own?.command.run({ store, args, config })
        : await runStuck(stuck.command, { store, args, redisUrl: options.redisUrl })
    if (command.writes && args.length > 0) {
      await writeAudit(store.pool, {
        workspaceId: null,
        actor: { kind: 'shell', id: null, name: userInfo().username },
        action: `admin ${name}`,
        resource: args[0] ?? '',
        detail: {},
        address: '',
        requestId: '',
      })
    }
    return said ?? ''
  } finally {
    await store.close()
  }
}

/** The command of the most words, and what follows them. */
function namedBy<C>(commands: Readonly<Record<string, C>>, [first = '', second = '', ...rest]: readonly string[]) {
  const two = `${first} ${second}`
  if (Object.hasOwn(commands, two)) return { command: commands[two] as C, name: two, args: rest }
  const args = second === '' ? rest : [second, ...rest]
  return Object.hasOwn(commands, first) ? { command: commands[first] as C, name: first, args } : undefined
}

async function setupTokenOf({ store, config }: Shell): Promise<string> {
  if (await hasUsers(store))
    throw fault('There is a user already; "npm run patchbay admin invite <email>" makes a link for another')
  const secret = config.jwtApiSecret ?? (await readSecret(config.dataDir, 'jwt_api_secret'))
  if (secret === undefined) throw fault('JWT_API_SECRET is not set and none was made yet; start Patchbay once first')
  return `The first user, who runs the installation, signs up here:\n\n${setupLink(config.publicUrl, secret)}\n\nor sends setup_token "${setupToken(secret)}" with POST /auth/signup`
}

async function users({ store, args }: Shell): Promise<string> {
  const { users, total } = await listUsers(store, { email: args[0] }, { offset: 0, limit: SHOWN })
  const lines = users.map((user) => `${user.email}  ${user.name}${user.is_operator ? '  operator' : ''}  ${user.id}`)
  return listed(lines, total)
}

async function resetPassword(shell: Shell): Promise<string> {
  const user = await requireUser(shell)
  const { link, expires_at } = await linkFor(shell, 'password_reset', user.id, user.email)
  return `${user.email} chooses a new password here, once, until ${expires_at}:\n\n${link}`
}

async function invite(shell: Shell): Promise<string> {
  const [email = ''] = shell.args
  if (!email.includes('@')) throw fault(`"${email}" is no e-mail address`)
  const { link, expires_at } = await linkFor(shell, 'signup', null, email)
  return `${email} signs up here, once, until ${expires_at}:\n\n${link}`
}

async function changeOperator(shell: Shell, isOperator: boolean): Promise<string> {
  const user = await requireUser(shell)
  await setOperator(shell.store, user.id, isOperator)
  return `${user.email} is ${isOperator ? 'an operator now' : 'no operator any more, unless PATCHBAY_OPERATORS says so'}`
}

async function signup({ store, args: [mode] }: Shell): Promise<string> {
  if (mode === undefined) return `signup: ${(await signupSetting(store)) ?? 'default'}`
  const known = ['open', 'invitation', 'closed', 'default']
  if (!known.includes(mode)) throw fault(`"${mode}" is none of ${known.join(', ')}`)
  await setSignup(store, mode === 'default' ? null : (mode as SignupMode))
  return `signup: ${mode}`
}

async function maintenance({ store, args: [mode, ...words] }: Shell): Promise<string> {
  if (mode === 'on') await beginMaintenance(store, words.join(' '))
  else if (mode === 'off' && words.length === 0) await endMaintenance(store)
  else if (mode !== undefined) throw fault(`"${[mode, ...words].join(' ')}" is neither "on [sentence…]" nor "off"`)
  const found = await maintenanceOf(store)
  if (found === null) return 'maintenance: off'
  return `maintenance: on since ${found.since.toISOString()}${found.message === '' ? '' : `: ${found.message}`}`
}

async function workspaces({ store }: Shell): Promise<string> {
  const { workspaces, total } = await listWorkspaces(store, { offset: 0, limit: SHOWN })
  const lines = workspaces.map(
    ({ slug, name, members, suspended_reason, id }) =>
      `${slug}  ${name}  ${members} ${members === 1 ? 'member' : 'members'}${suspended_reason === null ? '' : `  suspended: ${suspended_reason}`}  ${id}`,
  )
  return listed(lines, total)
}

async function suspend(shell: Shell): Promise<string> {
  const [, ...reason] = shell.args
  const { id, slug } = await requireWorkspace(shell)
  await setSuspension(shell.store, id, reason.join(' '))
  return `${slug} is suspended; calls that run finish`
}

async function resume(shell: Shell): Promise<string> {
  const { id, slug } = await requireWorkspace(shell)
  await setSuspension(shell.store, id, null)
  return `${slug} is resumed`
}

async function auditLog({ store, args }: Shell): Promise<string> {
  const limit = Number(args[0] ?? 20)
  if (!Number.isInteger(limit) || limit < 1) throw fault(`"${args[0]}" is no number of entries`)
  const { rows, total } = await auditPage(store, {}, { offset: 0, limit })
  const lines = rows.map(
    (row) => `${row.at.toISOString()}  ${row.actor_name}  ${row.action}  ${row.resource}  ${row.address}`,
  )
  return listed(lines, total)
}

async function requireUser({ store, args: [email = ''] }: Shell): Promise<User> {
  const user = await userByEmail(store.global, email)
  if (user === undefined)
    throw fault(`Nobody has the e-mail address "${email}"; "npm run patchbay admin users" lists everybody`)
  return user
}

async function requireWorkspace({ store, args: [name = ''] }: Shell): Promise<ListedWorkspace> {
  const { workspaces } = await listWorkspaces(store, AT_MOST)
  const found = workspaces.find(({ id, slug }) => id === name.toLowerCase() || slug === name)
  if (found === undefined) throw fault(`"${name}" is no workspace; "npm run patchbay admin workspaces" lists them`)
  return found
}

async function linkFor({ store, config }: Shell, kind: LinkKind, userId: string | null, email: string) {
  const clock = await databaseClockOf(store, systemClock)
  return oneTimeLink({ store, clock, config }, { kind, userId, email, createdBy: null })
}

function listed(lines: readonly string[], total: number): string {
  const more = total > lines.length ? [`… and ${total - lines.length} more`] : []
  return lines.length === 0 ? 'none' : [...lines, ...more].join('\n')
}

function fault(reason: string): PatchbayError {
  return new PatchbayError('configuration', { params: { reason } })
}
