/** Every JavaScript engine has it, TypeScript's library of the language alone has not. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: unknown }
}

/** A module of our own, as its source was compiled. */
export const webModule = (base64: string): object => new WebAssembly.Module(Buffer.from(base64, 'base64'))

/** What an instance of a module exports, by the module's source. */
export const webInstance = (module: object): unknown => new WebAssembly.Instance(module).exports
