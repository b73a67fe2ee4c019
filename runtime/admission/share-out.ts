/** What one unit of work of a workspace wants of something that there is only so much of. */
export interface Demand {
  workspaceId: string
  /** As `batch:<id>` or `campaign:<id>`; unique over all workspaces. */
  unit: string
  wanted: number
}

/**
 * A line in which members take turns by their tags: the turns each has had. Who is not in it, or was away, stands where the
 * line is: turns can't be saved up.
 */
export interface TurnLine {
  readonly tags: ReadonlyMap<string, number>
  /** Where the line is: the least tag of those that waited lately. */
  readonly at: number
}

export interface Turns {
  readonly workspaces: TurnLine
  /** The units of each workspace. */
  readonly units: ReadonlyMap<string, TurnLine>
}

export const NO_LINE: TurnLine = { tags: new Map(), at: 0 }

/** The tag of a member now. */
export const tagOf = ({ tags, at }: TurnLine, member: string): number => Math.max(tags.get(member) ?? at, at)

/**
 * Shares `room` out in turns: by workspace, then by its units, none more than it wants and its workspace may have. Pure;
 * returns what each unit gets.
 * @param most what a workspace may still have; absent: any number
 */
export function shareOut(
  room: number,
  demands: readonly Demand[],
  turns: Turns,
  most: ReadonlyMap<string, number> = new Map(),
): Map<string, number> {
  const shares = new Map<string, number>()
  const workspaces = new Map<
    string,
    { tag: number; left: number; units: { unit: string; tag: number; left: number }[] }
  >()
  for (const { workspaceId, unit, wanted } of demands) {
    if (wanted <= 0) continue
    const workspace = workspaces.get(workspaceId) ?? {
      tag: tagOf(turns.workspaces, workspaceId),
      left: most.get(workspaceId) ?? Number.POSITIVE_INFINITY,
      units: [],
    }
    workspaces.set(workspaceId, workspace)
    workspace.units.push({ unit, tag: tagOf(turns.units.get(workspaceId) ?? NO_LINE, unit), left: wanted })
  }
  for (let given = 0; given < room; given++) {
    let next: ReturnType<typeof workspaces.get>
    for (const one of workspaces.values()) {
      if (one.left > 0 && one.units.length > 0 && (next === undefined || one.tag < next.tag)) next = one
    }
    if (next === undefined) break
    const unit = next.units.reduce((first, one) => (one.tag < first.tag ? one : first))
    shares.set(unit.unit, (shares.get(unit.unit) ?? 0) + 1)
    next.tag++
    next.left--
    unit.tag++
    if (--unit.left === 0) next.units.splice(next.units.indexOf(unit), 1)
  }
  return shares
}

/** The line after a member had `taken` turns while `waiting` waited; members that stand where it is carry no tag. */
export function afterTurns(line: TurnLine, member: string, taken: number, waiting: readonly string[]): TurnLine {
  const tag = tagOf(line, member) + taken
  const others = waiting.filter((one) => one !== member).map((one) => tagOf(line, one))
  const at = Math.max(line.at, Math.min(tag, ...others))
  const tags = new Map([...line.tags, [member, tag] as const].filter(([, one]) => one > at))
  return { tags, at }
}
