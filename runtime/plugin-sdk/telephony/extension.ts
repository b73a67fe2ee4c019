/** A destination without a trunk: a softphone that registers with us. */
export interface Extension {
  readonly id: string
  readonly workspaceId: string
  /** What people dial: `204`, `anna`; unique in its workspace. */
  readonly name: string
  /** What others see when it calls. */
  readonly displayName: string | undefined
  /** What it logs in as; unique on the installation. */
  readonly username: string
  /** Undefined: it can't be opened with this key. */
  readonly password: string | undefined
}

/** Where one phone of an extension is to be reached. */
export interface Binding {
  /** Its own address, as a SIP URI. */
  readonly contact: string
  readonly protocol: 'udp' | 'tcp' | 'tls'
  /** Where its registration came from: what a router between lets through. */
  readonly address: string
  readonly port: number
  readonly expiresAtMs: number
  readonly userAgent: string | undefined
}

/** The extensions of all workspaces, as a carrier sees them, and the phones that are registered anywhere. */
export interface ExtensionDirectory {
  list(signal: AbortSignal): Promise<readonly Extension[]>
  /**
   * Calls back after each change, on any node; a local change resolves after `changed` has run. The returned
   * function ends it.
   */
  watch(changed: () => Promise<void>): () => void
  /** These phones of an extension are registered with this node, and no others. */
  registered(extensionId: string, bindings: readonly Binding[]): Promise<void>
  /** Phones of an extension, whichever node they are registered with, the newest first. */
  bindings(extensionId: string): Promise<readonly Binding[]>
}
