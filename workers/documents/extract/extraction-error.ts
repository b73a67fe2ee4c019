/** Why a file can't become text, in words for the person who uploaded it. Trying again doesn't help. */
export class ExtractionError extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options)
    this.name = 'ExtractionError'
  }
}

/** It takes longer than it may: where there is a longer limit, trying again under that one helps. */
export class ExtractionTimeout extends ExtractionError {}
