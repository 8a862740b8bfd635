import { formatPrice, ZERO } from '../../core/money.ts'
import { harmless } from '../../text/text.ts'
import type { RawCall, Session, SessionHost } from '../session.ts'
import { quote } from './paying.ts'

/** A call that costs something, and how it is shown. */
type Shown = RawCall & { readonly title: string; readonly input: Readonly<Record<string, unknown>> }

/** Shows what is asked and what it costs, and asks for a yes. @returns the same host, which pays no more than was shown */
export async function agreedTo<H extends SessionHost>(host: H, session: Session, { title, input, ...call }: Shown) {
  const { io, globals } = host
  const offer = await quote(session, call)
  const price = offer?.price ?? ZERO
  const parts = Object.entries(input).map(([name, value]) => `  ${name} = ${JSON.stringify(value)}`)
  for (const line of [title, ...parts]) io.say(harmless(line))
  await io.confirm(`Pay ${formatPrice(price)}${offer === undefined ? '' : ` to ${offer.payTo}`}?`)
  return { ...host, globals: { ...globals, maxPrice: price < globals.maxPrice ? price : globals.maxPrice } }
}
