import { type ServiceType, serviceTypes } from '../../../src/model/service.ts'
import type { Draft, ReadTx, Tx } from '../../store/port.ts'
import { type StandingRow, type Sums, standings } from './rows.ts'

/** Which provider, service or service type a standing is about. */
export type StandingOf = Pick<StandingRow, 'kind' | 'provider_id'> & { readonly id: string }

export function ofProvider(providerId: string): StandingOf {
  return { id: `provider:${providerId}`, kind: 'provider', provider_id: providerId }
}

function ofService({ id, provider_id }: Sold): StandingOf {
  return { id: `service:${id}`, kind: 'service', provider_id }
}

function ofType(providerId: string, type: ServiceType): StandingOf {
  return { id: `type:${providerId}:${type}`, kind: 'service_type', provider_id: providerId }
}

type Sold = { readonly id: string; readonly provider_id: string; readonly service_type: ServiceType }

/** The subjects of a job: its provider, its service and the provider's service type. */
export function subjectsOf(sold: Sold): readonly StandingOf[] {
  return [ofProvider(sold.provider_id), ofService(sold), ofType(sold.provider_id, sold.service_type)]
}

/** Locks a standing; returns a new empty one if there is none. */
export async function lockStanding(t: Tx, of: StandingOf, empty: Sums): Promise<Draft<StandingRow>> {
  const row = await t.table(standings).getForUpdate(of.id)
  return row ?? { ...of, sums: empty, tested_at: null, updated_at: null }
}

/** Standings of a service, its provider and the provider's service types; undefined where nothing was counted. */
export type Standings = Awaited<ReturnType<typeof readStandings>>

export async function readStandings(t: ReadTx, service: Sold) {
  const [provider, own] = [ofProvider(service.provider_id), ofService(service)]
  const types = serviceTypes.map((type) => [type, ofType(service.provider_id, type).id] as const)
  const rows = await t.table(standings).getMany([provider.id, own.id, ...types.map(([, id]) => id)])
  const known = new Map(rows.map((row) => [row.id, row]))
  return {
    provider: known.get(provider.id),
    service: known.get(own.id),
    byType: types.map(([type, id]) => [type, known.get(id)] as const),
  }
}
