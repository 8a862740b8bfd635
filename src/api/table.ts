import { formatPrice } from '../core/money.ts'
import { type Endpoint, templatePath } from './endpoint/define.ts'
import { api, endpointNames } from './index.ts'

/** The contract as a Markdown table, the one in the README. */
export function endpointTable(): string {
  const endpoints = endpointNames.map((name): Endpoint => api[name])
  const lines = endpoints.map(
    (endpoint) =>
      `| ${endpoint.method} | \`${templatePath(endpoint.path)}\` | ${who(endpoint)} | ${price(endpoint)} | ${endpoint.summary} |`,
  )
  return ['| Method | Path | Who | Price | What |', '|---|---|---|---|---|', ...lines].join('\n')
}

function who({ access }: Endpoint): string {
  const kind = access.kind.replaceAll('_', ' ')
  return 'role' in access && access.role ? `${kind} (${access.role})` : kind
}

function price({ access }: Endpoint): string {
  if (!('price' in access)) return 'free'
  return access.price === 'varies' ? 'varies' : formatPrice(access.price)
}
