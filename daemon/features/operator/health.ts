import type { z } from 'zod'
import { areas, isPaid } from '../../../src/api/endpoint/define.ts'
import { api, endpointNames } from '../../../src/api/index.ts'
import { openapiDocument, readAnswerExamples } from '../../../src/api/openapi/document.ts'
import type { Health, healthApi } from '../../../src/api/sections/platform.ts'
import { replacementOf, showsInHealth, statusOf } from '../../../src/api/status.ts'
import { formatPrice } from '../../../src/core/money.ts'
import { scheduler } from '../../crons/scheduler.ts'
import { type Encoded, type FreeHandlers, validatorOf } from '../../endpoint/handler.ts'
import { engineBoard } from '../../engines/engines.ts'
import { type Context, localToken } from '../../kernel/context.ts'
import { installation } from '../../kernel/identity.ts'
import { launchView } from '../../kernel/refusals.ts'
import type { ChainStatus } from '../../ports/chain/chain.ts'
import { cutSentence, storage } from '../backup/storage.ts'
import { program } from '../referrals/routes.ts'
import { compliance, sdnHealth } from '../sanctions/sanctions.ts'

const SERVICE_NAME = 'souk'

export const healthRoutes: FreeHandlers<typeof healthApi> = {
  getHealth: async (_input, { ctx, now, wall }) => {
    const switches = ctx.switches.now()
    const { chain } = ctx
    return {
      status: switches.paused ? 'paused' : 'ok',
      checkout_v2: switches.checkoutV2,
      paused: switches.paused,
      paused_at: switches.pausedAt,
      service: SERVICE_NAME,
      version: installation.of(ctx).version,
      instance_id: installation.of(ctx).instanceId,
      network: chain.network,
      pay_to: chain.payTo,
      chain: {
        mode: chain.mode,
        asset: chain.asset.address,
        name: chain.asset.name,
        version: chain.asset.version,
        ...connectionOf(chain.status?.()),
      },
      timestamp: wall,
      crons: { ...scheduler.of(ctx).health() },
      launch: launchView(ctx),
      compliance: { sdn: sdnHealth(compliance.of(ctx).list, { source: compliance.of(ctx).source.shown, now }) },
      engines: Object.fromEntries(
        engineBoard
          .of(ctx)
          .standings()
          .map(({ name, status }) => [name, status]),
      ),
      store: await storeHealth(ctx),
      ...links(ctx),
      endpoints: endpointList(ctx),
    }
  },

  getOpenapi: async (_input, { ctx }) => {
    const facts = { url: ctx.baseUrl(), switches: ctx.switches.now(), localToken: localToken(ctx) }
    const of = JSON.stringify([facts.url, facts.switches.paused, facts.switches.checkoutV2, ...facts.switches.enabled])
    const known = descriptions.get(ctx)
    if (known?.of === of) return known.answer
    const bytes = Buffer.from(JSON.stringify(openapiDocument({ ...facts, examples: await readAnswerExamples() })))
    const answer = { bytes, etag: validatorOf(bytes) }
    descriptions.set(ctx, { of, answer })
    return answer
  },
}

function connectionOf(status: ChainStatus | undefined): Partial<z.output<typeof Health>['chain']> {
  if (status === undefined) return {}
  const { health, head, lagBlocks, nodes, waiting, inFlight, oldestSeconds, gas } = status
  const down = nodes.filter(({ error }) => error !== null).length
  return {
    health,
    head: head && { block: head.block, age_seconds: head.ageSeconds },
    lag_blocks: lagBlocks,
    nodes: { up: nodes.length - down, down },
    queue: { waiting, in_flight: inFlight, oldest_seconds: oldestSeconds },
    gas_payments: gas?.payments ?? null,
  }
}

const FULL = 'The disk is full: purchases and all other writes are rejected until space is freed.'

async function storeHealth(ctx: Context): Promise<z.output<typeof Health>['store']> {
  const { cut, isFull: asksFull, describe } = storage.of(ctx)
  const isFull = await asksFull()
  const note = cut ? cutSentence(cut) : ((await describe?.()) ?? null)
  return {
    writes: isFull ? 'refused' : 'accepted',
    journal_cut: cut
      ? { kind: cut.kind, dropped_bytes: cut.droppedBytes, missing_transactions: cut.missingTransactions }
      : null,
    note: isFull ? FULL : note,
  }
}

function links(
  ctx: Context,
): Pick<z.output<typeof Health>, 'platform' | 'referral_program' | 'openapi_spec' | 'bazaar'> {
  const base = ctx.baseUrl()
  return {
    platform: {
      description: 'A marketplace where agents list, buy and verify services, paid by x402 or from a balance.',
      status_note: statusNote(ctx),
      status_legend: {
        live: 'answers',
        paused: 'returns 503 while paid activity is paused',
        deferred: 'returns 410 during the checkout cutover',
      },
      catalog: `${base}${api.getCatalog.path}`,
      register: `${base}${api.register.path}`,
      docs: `${base}${api.getDocs.path}`,
    },
    referral_program: {
      enabled: program.enabled,
      description: program.description,
      how_to_refer: program.participation.how_to_refer,
      endpoints: program.participation.endpoints,
    },
    openapi_spec: api.getOpenapi.path,
    bazaar: ctx.config.bazaar ?? `${base}/discovery/resources`,
  }
}

function statusNote(ctx: Context): string {
  const { paused, checkoutV2, escrowPaused } = ctx.switches.now()
  const closed = [
    ...(paused ? ['paid activity is paused'] : []),
    ...(checkoutV2 ? [`the checkout cutover disables ${areas.join(', ')}`] : []),
    ...(escrowPaused && !paused ? ['the escrow contract is paused, so payments into escrow wait'] : []),
  ]
  if (closed.length === 0) return 'All endpoints are available.'
  const sentence = `${closed.join('; ')}; reads, logins, wallets and data export are still available.`
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

function endpointList(ctx: Context) {
  const switches = ctx.switches.now()
  return endpointNames
    .map((name) => api[name])
    .filter((row) => showsInHealth(row, switches))
    .map((row) => ({ row, status: statusOf(row, switches) }))
    .map(({ row, status }) => ({
      path: row.path,
      method: row.method,
      price: isPaid(row) ? priceText(row.access.price) : 'free',
      description: row.summary,
      status,
      ...(status === 'deferred' ? { replacement: replacementOf(row) } : {}),
    }))
}

function priceText(price: bigint | 'varies'): string {
  return price === 'varies' ? price : formatPrice(price)
}

type Description = { readonly of: string; readonly answer: Encoded }

/** API descriptions, cached by switch state, because generating one takes a tenth of a second. */
const descriptions = new WeakMap<Context, Description>()
