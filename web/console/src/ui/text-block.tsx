/** A text as it was sent, under its name; it scrolls where it is long. */
export function TextBlock({ label, children }: { label: string; children: string }) {
  return (
    <section className="mt-4">
      <h3 className="mb-1 text-sm font-medium">{label}</h3>
      <pre
        className="max-h-64 overflow-y-auto rounded-md bg-sunken p-3 text-xs whitespace-pre-wrap wrap-anywhere"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {children}
      </pre>
    </section>
  )
}

/** JSON in lines; anything else as it is. */
export function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
