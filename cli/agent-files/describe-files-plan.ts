import type { Plan } from './make-plan.ts'
import { type FieldDifference, isCreated, isSame, type ResourcePlan } from './plan.ts'

const MAX_LINES = 40
const MAX_VALUE = 120

/** The difference as people read it; empty: there is none. */
export function describeFilesPlan(plan: Plan, { deletes }: { deletes: boolean }): string {
  const lines: string[] = []
  for (const resource of plan.resources) {
    if (isCreated(resource)) lines.push(`+ ${resource.file.path}`)
    else if (!isSame(resource)) lines.push(`~ ${resource.file.path}`, ...describeFields(resource))
    for (const { name, replaces } of resource.documents?.uploads ?? [])
      lines.push(`    ${replaces === undefined ? '+' : '~'} document ${name}`)
    for (const { name } of resource.documents?.removals ?? []) lines.push(`    - document ${name}`)
    for (const name of resource.documents?.added ?? [])
      lines.push(`    ! document ${name} was added on the instance: pull`)
  }
  for (const { kind, name } of plan.gone) {
    lines.push(
      `- ${kind.folder}/${name}${kind.extension} is gone${deletes ? '' : `; the ${kind.noun} stays without --delete`}`,
    )
  }
  return lines.join('\n')
}

function describeFields({ changes, drifts, conflicts }: ResourcePlan): string[] {
  return [
    ...changes.flatMap((change) => describeChange(change)),
    ...drifts.flatMap(({ field, instance }) => [
      `    ! ${field} was changed on the instance: ${shortValue(instance)}; pull`,
    ]),
    ...conflicts.flatMap((change) => [
      `    ! ${change.field} was changed here and on the instance:`,
      ...describeChange(change),
    ]),
  ]
}

function describeChange({ field, file, instance }: FieldDifference): string[] {
  if (typeof file === 'string' && typeof instance === 'string' && (file + instance).includes('\n')) {
    return [`    ${field}:`, ...changedLines(instance, file).map((line) => `      ${line}`)]
  }
  if (Array.isArray(file) && Array.isArray(instance)) return describeList(field, file, instance)
  return [`    ${field}: ${shortValue(instance)} → ${shortValue(file)}`]
}

/** Lists of things with names, such as tools, by name. */
function describeList(field: string, file: readonly unknown[], instance: readonly unknown[]): string[] {
  const nameOf = (one: unknown): string =>
    typeof one === 'object' && one !== null && 'name' in one
      ? String(one.name)
      : (JSON.stringify(one) ?? '').slice(0, MAX_VALUE)
  const there = new Map(instance.map((one) => [nameOf(one), JSON.stringify(one)]))
  const here = new Map(file.map((one) => [nameOf(one), JSON.stringify(one)]))
  const added = [...here.keys()].filter((name) => !there.has(name)).map((name) => `+ ${name}`)
  const removed = [...there.keys()].filter((name) => !here.has(name)).map((name) => `- ${name}`)
  const changed = [...here]
    .filter(([name, text]) => there.has(name) && there.get(name) !== text)
    .map(([name]) => `~ ${name}`)
  const all = [...added, ...removed, ...changed]
  return [`    ${field}: ${all.length === 0 ? 'another order' : all.slice(0, MAX_LINES).join(', ')}`]
}

/** The lines between what both texts begin and end with. */
function changedLines(before: string, after: string): string[] {
  const old = before.split('\n')
  const now = after.split('\n')
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const all = [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
  ]
  return all.length <= MAX_LINES ? all : [...all.slice(0, MAX_LINES), `… and ${all.length - MAX_LINES} lines more`]
}

function shortValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE)}…`
}
