import type { Logger } from '../../runtime/process/log.ts'
import { countLostRows } from '../../runtime/process/metrics/lost-rows.ts'
import { type Store, sqlState } from '../../store/database/database.ts'
import { isRefusal } from '../../store/database/write-rows.ts'
import { routeEvents } from '../../store/events/workspace-events.ts'

const ROUTED_AT_ONCE = 1_000

/**
 * Gives the next events to the webhooks that asked for them. An event whose deliveries the database refuses is passed over, so that
 * those of all workspaces behind it still come. True when there is more to give.
 */
export async function route(store: Pick<Store, 'pool'>, log: Logger): Promise<boolean> {
  for (let limit = ROUTED_AT_ONCE; ; limit >>= 1) {
    try {
      return (await routeEvents(store, limit)) === limit
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (limit > 1) continue
      await routeEvents(store, 1, true)
      countLostRows('webhook_deliveries', 'refused')
      const { message } = error as Error
      log.error(
        { code: sqlState(error), reason: message },
        'The database refused the deliveries of an event; the event is skipped',
      )
      return true
    }
  }
}
