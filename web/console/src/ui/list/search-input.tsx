import { useEffect, useState } from 'react'
import { Input } from '../field.tsx'

const PAUSE_MS = 250

interface SearchInputProps {
  label: string
  placeholder: string
  value: string
  /** What was typed, once the typing pauses. */
  onSearch: (text: string) => void
  className?: string
}

/** The field over a list that searches it. */
export function SearchInput({ label, placeholder, value, onSearch, className = '' }: SearchInputProps) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  useEffect(() => {
    const wanted = text.trim()
    if (wanted === value) return
    const timer = setTimeout(() => onSearch(wanted), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text, value, onSearch])
  return (
    <Input
      aria-label={label}
      autoComplete="off"
      className={className}
      onChange={(event) => setText(event.target.value)}
      placeholder={placeholder}
      type="search"
      value={text}
    />
  )
}
