/** A server said nothing in time. */
export class McpTimeout extends Error {
  override readonly name = 'McpTimeout'
}
