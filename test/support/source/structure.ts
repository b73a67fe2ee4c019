/** What stands in a page, by role and name: what a screen is made of, whatever it says today. */

const KEPT =
  /^(heading|tab|tabpanel|button|link|textbox|searchbox|combobox|spinbutton|switch|checkbox|radio|columnheader|region|list|table|figure|alert)$/
/** Their rows are what the workspace holds. */
const HELD = /^(list|row|log)$/
const LINE = /^(\s*)- (\w+)(?: "((?:[^"\\]|\\.)*)")?/

/** The structure of Playwright's picture of a page for screen readers (`ariaSnapshot`), a line for each thing. */
export function structureOf(snapshot: string): string[] {
  const structure: string[] = []
  let skipped = Number.POSITIVE_INFINITY
  for (const line of snapshot.split('\n')) {
    const [, indent = '', role = '', name = ''] = LINE.exec(line) ?? []
    if (role === '') continue
    const isInside = indent.length > skipped
    if (!isInside) skipped = Number.POSITIVE_INFINITY
    if (KEPT.test(role) && (!isInside || role === 'columnheader')) {
      const said = `${role} ${steady(name)}`.trim()
      if (structure.at(-1) !== said) structure.push(said)
    }
    if (!isInside && HELD.test(role)) skipped = indent.length
  }
  return structure
}

/** Names without what differs from run to run: counts, times, ids. */
function steady(name: string): string {
  return name.replace(/[\w.:-]*\d[\w.:-]*/g, '#')
}
