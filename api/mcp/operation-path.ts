import type { AnyRoute } from '../route.ts'

/** A route's path as the OpenAPI document shows it. */
export const operationPath = ({ path, trailingSlash }: Pick<AnyRoute, 'path' | 'trailingSlash'>): string =>
  trailingSlash === true ? `${path.replace(/\/$/, '')}/` : path
