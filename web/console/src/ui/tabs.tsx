import { Tabs as Radix } from 'radix-ui'
import { type ReactNode, useEffect, useRef } from 'react'

interface TabsProps<T extends string> {
  value: T
  onChange: (value: T) => void
  tabs: readonly (readonly [value: T, label: string, content: ReactNode])[]
}

export function Tabs<T extends string>({ value, onChange, tabs }: TabsProps<T>) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { current } = list
    if (current === null) return
    if (value) current.querySelector('[data-state=active]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    const watch = new ResizeObserver(() => fade(current))
    watch.observe(current)
    return () => watch.disconnect()
  }, [value])
  return (
    <Radix.Root onValueChange={(next) => onChange(next as T)} value={value}>
      <Radix.List
        className="tab-list mb-4 flex overflow-x-auto border-b border-line sm:gap-1"
        onScroll={({ currentTarget }) => fade(currentTarget)}
        ref={list}
      >
        {tabs.map(([name, label]) => (
          <Radix.Trigger
            className="-mb-px h-9 border-b-2 border-transparent px-2.5 font-medium whitespace-nowrap text-muted hover:text-ink sm:px-3 data-[state=active]:border-accent data-[state=active]:text-ink"
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

/** Marks the sides that have more tabs than are in sight. */
function fade(list: HTMLElement): void {
  const { scrollLeft, scrollWidth, clientWidth } = list
  list.toggleAttribute('data-before', scrollLeft > 1)
  list.toggleAttribute('data-after', scrollLeft + clientWidth < scrollWidth - 1)
}
