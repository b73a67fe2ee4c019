import { type Static, Type } from 'typebox'

/** The tool by which a language model begins a procedure. */
export const BEGIN_PROCEDURE = 'begin_procedure'

/** A step that is made without the model: said to its end; said, and the caller's answer awaited; a value collected; or a tool called. */
export const FIXED_STEP = Type.Union([
  Type.Object({ say: Type.String() }),
  Type.Object({ ask: Type.String() }),
  Type.Object({ collect: Type.String() }),
  Type.Object({ tool: Type.String(), arguments: Type.Record(Type.String(), Type.Unknown()) }),
])
export type FixedStep = Static<typeof FIXED_STEP>

/** Instructions for one matter: the model reads them once it has begun the procedure. */
export const PROCEDURE = Type.Object({
  name: Type.String(),
  when: Type.String(),
  text: Type.String(),
  /** Tools of the agent that are the model's only once the procedure has begun. */
  tools: Type.Array(Type.String()),
  fixed: Type.Array(FIXED_STEP),
})
export type Procedure = Static<typeof PROCEDURE>

/** What the model reads of a procedure that it has begun, whose fixed steps are made for it. */
export const procedureText = ({ name, text }: Procedure): string =>
  `The procedure ${name} has begun. Follow it:\n${text}`

/** Whether the tool is the model's only in a procedure that it has not begun. */
export function isOfOtherProcedure(
  procedures: readonly Procedure[],
  begun: ReadonlySet<string>,
  tool: string,
): boolean {
  const of = procedures.filter(({ tools }) => tools.includes(tool))
  return of.length > 0 && !of.some(({ name }) => begun.has(name))
}
