declare module '*.css'
/** The address of a script that is built with everything it imports. */
declare module '*?worker&url' {
  const url: string
  export default url
}
