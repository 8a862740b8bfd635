import type { WireAnswer } from '../../api/endpoint/define.ts'
import type { Api } from '../../api/index.ts'
import type { Column } from '../output.ts'
import * as z from '../params.ts'

type Discovered = WireAnswer<Api['listResources']>['items'][number]

/** What narrows the x402 discovery lists. */
export const discoveryOptions = {
  payTo: z.string().optional().meta({ description: 'only with this payee', value: 'address' }),
  scheme: z.string().optional().meta({ description: 'only with this x402 scheme', value: 'name' }),
  network: z.string().optional().meta({ description: 'only on this chain, by name or CAIP-2 id', value: 'name' }),
  limit: z.int().min(1).max(100).default(20).meta({ description: 'rows per page' }),
}

export const resourceColumns: readonly Column<Discovered>[] = [
  { title: 'RESOURCE', value: ({ resource }) => resource, flexible: true },
  { title: 'NAME', value: ({ serviceName }) => serviceName, flexible: true },
  { title: 'ATOMIC', value: ({ accepts }) => accepts[0]?.amount, align: 'right' },
  { title: 'NETWORK', value: ({ accepts }) => accepts[0]?.network, drop: 1 },
]
