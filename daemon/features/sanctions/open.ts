import { AppError } from '../../../src/core/error.ts'
import { type Context, inBackground } from '../../kernel/context.ts'
import { shipped } from '../../kernel/identity.ts'
import { web } from '../../kernel/web.ts'
import { sdnSource } from '../../ports/sdn/source.ts'
import { refreshSdn } from './ofac-sdn-refresh.ts'
import { type Compliance, compliance, openSanctions } from './sanctions.ts'

const sampleFile = shipped('sdn/sample.xml')

/** Loads the sanctions list, and the wallets that an operator added. Tests pass their own check as `isSanctioned`. */
export async function openCompliance(ctx: Context, isSanctioned?: Compliance['isSanctioned']): Promise<void> {
  const { store, config, chain } = ctx
  const sanctions = await openSanctions(store)
  compliance.open(ctx, {
    list: sanctions,
    source: sdnSource({ configured: config.sdnSource, sample: sampleFile }, web.of(ctx)),
    isSanctioned:
      isSanctioned ??
      (async (wallet) => {
        // Without a list, payments are refused only with real money (decisions §12).
        if (chain.mode === 'base' && sanctions.state().source === null) {
          throw new AppError('unavailable', 'No sanctions list is loaded yet, so payments cannot be screened.', {
            retryAfter: 60,
          })
        }
        return sanctions.has(wallet)
      }),
  })
}

/**
 * Loads the list if the configured source has none yet: a file before the first request is served, a URL in the
 * background. A rejected list does not prevent the start.
 */
export async function loadFirstList(ctx: Context): Promise<void> {
  if (compliance.of(ctx).list.state().source === compliance.of(ctx).source.id) return
  const load = () =>
    refreshSdn({ ...ctx, now: ctx.clock.now(), signal: ctx.stopping }).catch((error: unknown) => {
      ctx.log.error({ source: 'sdn', err: String(error) }, 'the configured sanctions list could not be loaded')
    })
  if (compliance.of(ctx).source.isLocal) await load()
  else inBackground(ctx, 'sdn', load)
}
