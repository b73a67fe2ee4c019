import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface Entry {
  /** Where labels may come twice. */
  key?: string
  label: string
  /** Of the label, where that is in another language than the page. */
  lang?: string
  icon?: IconName
  danger?: boolean
  checked?: boolean
}

export type MenuItem = Entry & ({ onSelect: () => void } | { items: readonly MenuItem[] })

const LOOK = 'z-50 min-w-44 overflow-y-auto rounded-md border border-line bg-surface p-1 shadow-[var(--shadow)]'

/** A menu behind `trigger`, which is a button; an item with `items` opens those beside it. `false` items are left out. */
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
        <Radix.Content align={align} className={`${LOOK} max-h-[70vh]`} sideOffset={4}>
          {items
            .filter((item) => item !== false)
            .map((item) => (
              <Item item={item} key={item.key ?? item.label} />
            ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

function Item({ item }: { item: MenuItem }) {
  const { label, lang, icon, danger, checked } = item
  const isGroup = 'items' in item
  const className = `flex h-8 cursor-pointer items-center gap-2 rounded-sm px-2 text-sm outline-none data-highlighted:bg-sunken ${
    danger ? 'text-bad' : ''
  }`
  const shown = (
    <>
      {icon && <Icon name={icon} size={16} />}
      <span className="flex-1 truncate" lang={lang}>
        {label}
      </span>
      {checked && <Icon name="check" size={15} />}
      {isGroup && <Icon className="text-muted" name="chevron" size={14} />}
    </>
  )
  if (!isGroup) {
    return (
      <Radix.Item className={className} onSelect={item.onSelect}>
        {shown}
      </Radix.Item>
    )
  }
  return (
    <Radix.Sub>
      <Radix.SubTrigger className={className}>{shown}</Radix.SubTrigger>
      <Radix.Portal>
        <Radix.SubContent
          className={`${LOOK} max-h-(--radix-dropdown-menu-content-available-height)`}
          collisionPadding={8}
          sideOffset={4}
        >
          {item.items.map((one) => (
            <Item item={one} key={one.key ?? one.label} />
          ))}
        </Radix.SubContent>
      </Radix.Portal>
    </Radix.Sub>
  )
}
