import { formatPrice } from '../core/money.ts'
import { type Endpoint, templatePath } from './endpoint/define.ts'
import { api, endpointNames } from './index.ts'

/** The contract as a Markdown table, the one in the README. */
export function endpointTable(): string {
  const rows = endpointNames.map((name): Endpoint => api[name])
  const lines = rows.map(
    (row) => `| ${row.method} | \`${templatePath(row.path)}\` | ${who(row)} | ${price(row)} | ${row.summary} |`,
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
