const PAGE = 'text/html'
const documents = ['application/json', 'application/problem+json']
const WILD = ['application/*', '*/*']

/**
 * Whether an `Accept` asks for a page rather than JSON (RFC 9110 section 12.5.1): it has to name pages itself, as
 * browsers do, and no form of JSON as highly. Without one, or with one that takes everything, the answer is JSON.
 */
export function prefersPage(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const weights = weightsOf(accept)
  const page = weights.get(PAGE) ?? 0
  if (page === 0) return false
  const named = documents.flatMap((type) => weights.get(type) ?? [])
  if (named.length > 0) return page > Math.max(...named)
  const wild = WILD.flatMap((type) => weights.get(type) ?? []).slice(0, 1)
  return page >= Math.max(0, ...wild)
}

/** Whether an `Accept` asks for this type by name, and for plain JSON no more than for it. */
export function prefers(accept: string | undefined, type: string): boolean {
  if (accept === undefined) return false
  const weights = weightsOf(accept)
  const weight = weights.get(type) ?? 0
  return weight > 0 && weight >= (weights.get('application/json') ?? 0)
}

/** Whether an `Accept-Encoding` takes gzip (RFC 9110 section 12.5.3). */
export function takesGzip(header: string | undefined): boolean {
  if (header === undefined) return false
  const weights = weightsOf(header)
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0
}

/** Media ranges with their weights; one that is malformed weighs nothing. */
function weightsOf(accept: string): Map<string, number> {
  const ranges = accept.split(',').map((range): [string, number] => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1)
    return [type, weight >= 0 && weight <= 1 ? weight : 0]
  })
  return new Map(ranges)
}
