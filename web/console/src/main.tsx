import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError, Unreachable } from './data/api.ts'
import { Gate } from './gate.tsx'
import { router } from './router.tsx'
import { welcomePage } from './screens/welcome.tsx'
import './styles.css'
import { loadTypeFace } from './type-face.ts'
import { Toasts } from './ui/toast.tsx'

/** The instance leads its bare address here; the console's own begins with its name. */
if (location.pathname === '/' || location.pathname === '/console')
  history.replaceState(null, '', `/console/${location.hash}`)

const MAX_RETRIES = 2
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // What was refused stays refused; the page waits for an instance that is away by itself.
      retry: (count, error) =>
        count < MAX_RETRIES && !(error instanceof Unreachable) && !(error instanceof ApiError && error.status < 500),
    },
  },
})

const Welcome = welcomePage(location.pathname)

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      {Welcome ? (
        <Welcome />
      ) : (
        <Gate>
          <RouterProvider router={router} />
        </Gate>
      )}
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
)
loadTypeFace(() => queries.isFetching() > 0)
