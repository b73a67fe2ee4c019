import {
  createContext,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useContext,
  useId,
} from 'react'

const CONTROL =
  'w-full rounded-md border border-line-strong bg-surface px-2.5 text-ink transition-colors hover:border-muted focus:border-accent focus-visible:outline-offset-0 aria-invalid:border-bad disabled:bg-sunken disabled:text-muted disabled:hover:border-line'

const FieldContext = createContext<{ id: string; describedBy: string | undefined; invalid: boolean } | undefined>(
  undefined,
)

interface FieldProps {
  label: string
  /** What the field does, in a sentence. */
  hint?: ReactNode
  fault?: string | undefined
  children: ReactNode
  className?: string
}

/** A labelled control, with its hint and what is wrong with it. */
export function Field({ label, hint, fault, children, className = '' }: FieldProps) {
  const id = useId()
  const note = fault ?? hint
  return (
    <div className={className}>
      <label className="mb-1 block text-sm font-medium" htmlFor={id}>
        {label}
      </label>
      <FieldContext.Provider value={{ id, describedBy: note ? `${id}-note` : undefined, invalid: fault !== undefined }}>
        {children}
      </FieldContext.Provider>
      {note && (
        <p className={`mt-1 text-xs ${fault ? 'text-bad' : 'text-muted'}`} id={`${id}-note`}>
          {fault ?? hint}
        </p>
      )}
    </div>
  )
}

function useControl() {
  const field = useContext(FieldContext)
  if (field === undefined) return {}
  return { id: field.id, 'aria-describedby': field.describedBy, 'aria-invalid': field.invalid || undefined }
}

export function Input({ className = '', ...rest }: InputHTMLAttributes<HTMLInputElement>) {
  return <input {...useControl()} {...rest} className={`${CONTROL} h-9 ${className}`} />
}

/** A file of rows, one of whose columns has phone numbers. */
export function TableFile(props: InputHTMLAttributes<HTMLInputElement>) {
  return <Input accept=".csv,text/csv,.xlsx" className="py-1.5" type="file" {...props} />
}

export function Textarea({ className = '', ...rest }: TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <textarea {...useControl()} {...rest} className={`${CONTROL} block resize-y py-2 leading-relaxed ${className}`} />
  )
}

export function Select({ className = '', ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return <select {...useControl()} {...rest} className={`${CONTROL} h-9 pr-7 ${className}`} />
}

interface SwitchProps {
  checked: boolean
  onChange: (checked: boolean) => void
  label: string
  hint?: string
  disabled?: boolean
}

export function Switch({ checked, onChange, label, hint, disabled }: SwitchProps) {
  const id = useId()
  return (
    <div className="flex items-start gap-2.5">
      <button
        aria-checked={checked}
        aria-labelledby={id}
        className={`relative mt-0.5 h-5 w-9 shrink-0 rounded-full border transition-colors disabled:opacity-50 ${
          checked ? 'border-accent bg-accent' : 'border-line-strong bg-sunken'
        }`}
        disabled={disabled}
        onClick={() => onChange(!checked)}
        role="switch"
        type="button"
      >
        <span
          className={`absolute top-0.5 left-0.5 size-3.5 rounded-full transition-transform ${
            checked ? 'translate-x-4 bg-on-accent' : 'bg-line-strong'
          }`}
        />
      </button>
      <div>
        <div className="text-sm font-medium" id={id}>
          {label}
        </div>
        {hint && <p className="text-xs text-muted">{hint}</p>}
      </div>
    </div>
  )
}
