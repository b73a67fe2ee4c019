import type { Manifest } from '../../../runtime/plugin/contract.ts'
import { fieldsOf, type Recorded, type Recorder } from '../recorder.ts'

/** A request of ours as it goes on the wire, and what judges it. */
export interface WireRequest {
  /** Name of one of the vendor's types, or of its paths. */
  type: string
  /** What it was made for, such as a model or a voice. */
  about: string
  value: object
  /** Of its address, where the SDK names it. */
  path?: string
}

/** How a plugin's requests are made, and what the SDK of its vendor says of them. */
export interface Vendor {
  /**
   * The types that judge, in TypeScript; the package lies beside as `package/`. `Wire` and `Query` (wire-types.ts) turn types of the
   * SDK into those of what is sent.
   */
  types: Readonly<Record<string, string>> | ((folder: string) => Promise<Readonly<Record<string, string>>>)
  /** By type: the file of the package that holds the address of such requests, and the address, with `:name` for a part that varies. */
  paths?: Readonly<Record<string, readonly [file: string, path: string]>>
  requests(provides: Manifest['provides'], recorder: Recorder): Promise<WireRequest[]>
  /** What no type of the SDK describes, and why. */
  unjudged?: readonly string[]
}

/** What a socket was opened with and what was said over it: judged by `<type>` and `<type>Message`. */
export function socketRequests(type: string, about: string, socket: Recorded): WireRequest[] {
  const { query, path, messages } = socket
  return [{ type, about, value: fieldsOf(query), path }, ...messageRequests(`${type}Message`, about, messages)]
}

/** Each kind of message once. */
export function messageRequests(type: string, about: string, messages: readonly string[]): WireRequest[] {
  return [...new Set(messages)].map((message) => ({ type, about, value: JSON.parse(message) as object }))
}
