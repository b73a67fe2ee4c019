import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

export interface MenuItem {
  /** Where labels may come twice. */
  key?: string
  label: string
  icon?: IconName
  danger?: boolean
  checked?: boolean
  onSelect: () => void
}

/** A menu behind `trigger`, which is a button. `false` items are left out. */
export function Menu({
  trigger,
  items,
  align = 'end',
  onOpen,
}: {
  trigger: ReactNode
  items: readonly (MenuItem | false)[]
  align?: 'start' | 'end'
  onOpen?: () => void
}) {
  return (
    <Radix.Root modal={false} onOpenChange={(isOpen) => isOpen && onOpen?.()}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          className="z-50 max-h-[70vh] min-w-44 overflow-y-auto rounded-md border border-line bg-surface p-1 shadow-[var(--shadow)]"
          sideOffset={4}
        >
          {items
            .filter((item) => item !== false)
            .map((item) => (
              <Radix.Item
                className={`flex h-8 cursor-pointer items-center gap-2 rounded-sm px-2 text-sm outline-none data-highlighted:bg-sunken ${
                  item.danger ? 'text-bad' : ''
                }`}
                key={item.key ?? item.label}
                onSelect={item.onSelect}
              >
                {item.icon && <Icon name={item.icon} size={16} />}
                <span className="flex-1 truncate">{item.label}</span>
                {item.checked && <Icon name="check" size={15} />}
              </Radix.Item>
            ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
