export function Wordmark() {
  return (
    <span className="inline-flex items-center gap-2 text-md font-semibold tracking-tight">
      <svg aria-hidden="true" height="24" viewBox="0 0 32 32" width="24">
        <rect fill="#0b6b66" height="32" rx="7" width="32" />
        <g fill="none" stroke="#fff" strokeLinecap="round" strokeWidth="2.4">
          <circle cx="9.5" cy="10" r="3" />
          <circle cx="22.5" cy="10" r="3" />
          <path d="M9.500 13v4a6.500 6.500 0 0 0 13 0v-4" />
        </g>
      </svg>
      Patchbay
    </span>
  )
}
