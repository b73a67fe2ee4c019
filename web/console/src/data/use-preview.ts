import { useEffect, useState } from 'react'
import { api } from './api.ts'

/**
 * What the API finds in a file before it is uploaded. Asked anew as the file or the fields change; meanwhile the last answer stays.
 * @param files of the form, by field; undefined: none is chosen
 */
export function usePreview<T>(
  path: string,
  files: Readonly<Record<string, File>> | undefined,
  fields: Readonly<Record<string, string>>,
): { preview: T | undefined; error: Error | null; isReading: boolean } {
  const [state, setState] = useState<{ preview?: T; error: Error | null; isReading: boolean }>(NOTHING)
  const file = files && Object.values(files)[0]
  const field = files && Object.keys(files)[0]
  const text = JSON.stringify(fields)
  useEffect(() => {
    if (file === undefined || field === undefined) return setState(NOTHING)
    const over = new AbortController()
    const form = new FormData()
    for (const [name, value] of Object.entries(JSON.parse(text) as Record<string, string>)) {
      if (value !== '') form.set(name, value)
    }
    form.set(field, file)
    setState((before) => ({ ...before, error: null, isReading: true }))
    api<T>(path, { method: 'POST', form, signal: over.signal }).then(
      (preview) => setState({ preview, error: null, isReading: false }),
      (error: Error) => {
        if (!over.signal.aborted) setState({ error, isReading: false })
      },
    )
    return () => over.abort()
  }, [path, file, field, text])
  return { preview: state.preview, error: state.error, isReading: state.isReading }
}

const NOTHING = { error: null, isReading: false }
