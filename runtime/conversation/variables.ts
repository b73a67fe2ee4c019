/** Puts the values of a conversation's variables where the text says `{{name}}`; a name without a value stays as it is. */
export function fillVariables(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{\s*([\w.-]{1,100})\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(variables, name) ? (variables[name] ?? '') : whole,
  )
}
