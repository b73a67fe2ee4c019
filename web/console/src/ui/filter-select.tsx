import { Select } from './field.tsx'

interface FilterSelectProps {
  label: string
  /** Of what is not filtered. */
  all: string
  options: Iterable<readonly [value: string, label: string]>
  /** Empty: all. */
  value: string
  onChange: (value: string) => void
}

/** Which part of a card's list is shown. */
export function FilterSelect({ label, all, options, value, onChange }: FilterSelectProps) {
  return (
    <Select aria-label={label} className="h-8! w-36!" onChange={({ target }) => onChange(target.value)} value={value}>
      <option value="">{all}</option>
      {[...options].map(([option, name]) => (
        <option key={option} value={option}>
          {name}
        </option>
      ))}
    </Select>
  )
}
