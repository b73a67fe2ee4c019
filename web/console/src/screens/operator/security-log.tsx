import { formatDayTime } from '../../data/format.ts'
import type { SecurityEntry } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Card, Empty } from '../../ui/layout.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'

const SENTENCES: Readonly<Record<string, string>> = {
  signup: t('Signed up'),
  signup_refused: t('A sign-up was refused'),
  login: t('Logged in'),
  login_failed: t('A login failed'),
  locked_out: t('Too many wrong passwords: logins are refused for a while'),
  logout: t('Logged out'),
  session_ended: t('Ended a session'),
  sessions_ended: t('Ended all sessions'),
  refresh_replayed: t('A refresh token was used twice'),
  password_link_mailed: t('A link for a new password was mailed'),
  password_reset: t('Set a new password by a link'),
  link_refused: t('A link was refused'),
  password_changed: t('Changed the password'),
  email_verified: t('Confirmed the e-mail address'),
  account_deleted: t('Deleted the account'),
  key_created: t('Created an API key'),
  key_rotated: t('Rotated an API key'),
  key_revoked: t('Revoked an API key'),
  events_left_out: t('More events than are recorded'),
}

/** Logins, refused logins, links, sessions and keys, newest first. */
export function SecurityLog() {
  return (
    <Card flush>
      <VirtualList<SecurityEntry>
        empty={
          <Empty icon="operator" title={t('Nothing yet')}>
            {t('Logins, refused logins, links, sessions and keys appear here, with the account and the address.')}
          </Empty>
        }
        label={t('Security log')}
        path="/operator/security-log"
        row={({ at, account, kind, address }) => (
          <div className="grid h-full grid-cols-[minmax(0,1fr)_auto] content-center items-center gap-x-3 px-4 text-sm md:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_10rem_8rem]">
            <span className="truncate font-medium">{account === '' ? t('No account') : account}</span>
            <span className="text-right text-xs whitespace-nowrap text-muted md:order-last md:text-sm">
              {formatDayTime(at)}
            </span>
            <span className="truncate">{SENTENCES[kind] ?? kind}</span>
            <span className="truncate text-right text-xs text-muted md:text-left md:text-sm">{address}</span>
          </div>
        )}
        rowKey={({ id }) => id}
      />
    </Card>
  )
}
