import { z } from 'zod'
import { Address, namedObject, Time } from '../../core/codecs.ts'
import { engineStatuses } from '../../model/words.ts'
import { bytes, endpointsWith, json, open } from '../endpoint/define.ts'
import { ChainHealth } from './chain.ts'
import { Sdn } from './sdn.ts'

const endpoint = endpointsWith({ section: 'Health and description' })

/** An entry of `/health.crons`. Times are business time. */
export const CronHealth = z.strictObject({
  last_success: Time.nullable(),
  last_skipped: Time.nullable(),
  last_failure: Time.nullable(),
  age_seconds: z.int().nullable(),
  stale: z.boolean(),
  skip_reason: z.string().optional(),
})

export const Health = namedObject('Health', {
  status: z.enum(['ok', 'paused']),
  checkout_v2: z.boolean(),
  paused: z.boolean(),
  paused_at: Time.nullable(),
  service: z.string(),
  version: z.string(),
  instance_id: z.string().meta({ description: 'public name of this installation, no credential' }),
  network: z.string(),
  pay_to: Address,
  chain: z.strictObject({
    mode: z.string(),
    asset: Address,
    name: z.string(),
    version: z.string(),
    health: ChainHealth.optional().meta({ description: 'only with a connected chain, like the members after it' }),
    head: z.strictObject({ block: z.int(), age_seconds: z.int() }).nullable().optional(),
    lag_blocks: z.int().optional(),
    nodes: z.strictObject({ up: z.int(), down: z.int() }).optional(),
    queue: z.strictObject({ waiting: z.int(), in_flight: z.int(), oldest_seconds: z.int().nullable() }).optional(),
    gas_payments: z
      .int()
      .nullable()
      .optional()
      .meta({ description: 'approximate number of payments the gas key can pay for; null before the first check' }),
  }),
  timestamp: z.int(),
  crons: z.record(z.string(), CronHealth),
  launch: z.strictObject({
    days: z.array(z.string()),
    shelved_410_24h: z.record(z.string(), z.record(z.string(), z.int())),
    gate_refusals_24h: z.record(z.string(), z.int()),
  }),
  compliance: z.strictObject({ sdn: Sdn }),
  engines: z
    .record(z.string(), z.enum(engineStatuses))
    .meta({ description: 'engines of first-party functions; operators see more' }),
  store: z.strictObject({
    writes: z
      .enum(['accepted', 'refused'])
      .meta({ description: 'refused: the disk is full, and nothing can be bought' }),
    journal_cut: z
      .strictObject({
        kind: z.enum(['unfinished', 'damaged', 'missing']),
        dropped_bytes: z.int(),
        missing_transactions: z.int().meta({ description: 'durable transactions that are certainly lost' }),
      })
      .nullable()
      .meta({ description: 'torn tail that the last start removed from the journal' }),
    note: z.string().nullable(),
  }),
  platform: z.strictObject({
    description: z.string(),
    status_note: z.string(),
    status_legend: z.record(z.string(), z.string()),
    catalog: z.string(),
    register: z.string(),
    docs: z.string(),
  }),
  referral_program: z.strictObject({
    enabled: z.boolean(),
    description: z.string(),
    how_to_refer: z.string(),
    endpoints: z.array(z.string()),
  }),
  openapi_spec: z.string(),
  bazaar: z.string(),
  endpoints: z.array(
    z.strictObject({
      path: z.string(),
      method: z.string(),
      price: z.string(),
      description: z.string(),
      status: z.enum(['live', 'paused', 'deferred']),
      replacement: z
        .string()
        .nullable()
        .optional()
        .meta({ description: 'for a deferred endpoint: its replacement, if any' }),
    }),
  ),
})

export const healthApi = {
  getHealth: endpoint({
    path: '/health',
    access: open,
    reply: json(Health),
    summary: 'health report, authoritative for endpoint status',
  }),

  getOpenapi: endpoint({
    path: '/openapi.json',
    access: open,
    reply: bytes('application/json'),
    summary: 'OpenAPI 3.1.0 description',
  }),
}
