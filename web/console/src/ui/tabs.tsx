import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'

interface TabsProps<T extends string> {
  value: T
  onChange: (value: T) => void
  tabs: readonly (readonly [value: T, label: string, content: ReactNode])[]
}

export function Tabs<T extends string>({ value, onChange, tabs }: TabsProps<T>) {
  return (
    <Radix.Root onValueChange={(next) => onChange(next as T)} value={value}>
      <Radix.List className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map(([name, label]) => (
          <Radix.Trigger
            className="-mb-px h-9 border-b-2 border-transparent px-3 font-medium whitespace-nowrap text-muted hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
            key={name}
            value={name}
          >
            {label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(([name, , content]) => (
        <Radix.Content key={name} tabIndex={-1} value={name}>
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}
