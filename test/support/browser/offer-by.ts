/** An offer with this port of UDP as its one address. */
export function offerBy(offer: string, port: number): string {
  const lines = offer.split('\r\n').filter((line) => !line.startsWith('a=candidate:'))
  lines.splice(-2, 0, `a=candidate:1 1 udp 1 127.0.0.1 ${port} typ host`)
  return lines.join('\r\n')
}
