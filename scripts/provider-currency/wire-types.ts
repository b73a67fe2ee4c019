/** Types of an SDK's arguments as types of what is sent: enumerations as their values, queries and forms as text. */
export const WIRE_TYPES = `
type Wire<T> = T extends string ? \`\${T}\` : T extends readonly (infer I)[] ? Wire<I>[]
  : T extends object ? { [K in keyof T]: Wire<T[K]> } : T
type Text<T> = T extends boolean | number ? \`\${T}\` : T extends string ? Wire<T> : T extends readonly (infer I)[] ? Text<I> | Text<I>[] : T
/** The fields of a query or of a form. */
type Query<T> = { [K in keyof T]: Text<T[K]> }
/** Without the door for fields of any name. */
type Named<T> = { [K in keyof T as string extends K ? never : K]: T[K] }
type IsAny<T> = 0 extends 1 & T ? true : false
`
