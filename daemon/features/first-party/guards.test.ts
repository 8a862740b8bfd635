import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openFunctionWorld } from '../../../fixtures/market/function-world.ts'
import { openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { engineBoard } from '../../engines/engines.ts'
import { openAudio } from '../../ports/audio/audio.ts'
import { openBrowsers } from '../../ports/browser/browser.ts'
import { openSpeech } from '../../ports/speech/speech.ts'
import { openTranslator } from '../../ports/translation/translator.ts'
import { openUpstream, upstreamEngine } from '../../ports/upstream/upstream.ts'
import { firstPartyServices } from './index.ts'

/** What the page of the functions says of a machine with nothing on it. */
function documented() {
  const page = readFileSync(new URL('../../../docs/reference/functions.md', import.meta.url), 'utf8')
  const [, offered, others = ''] =
    /nobody named, (\d+) of them are offered[\s\S]*?The others are ([^.]*)\./.exec(page) ?? []
  return { offered: Number(offered), others: [...others.matchAll(/`(\w+)`/g)].map(([, slug]) => slug).sort() }
}

describe('a marketplace', () => {
  it('with nothing installed offers what needs nothing of this machine, and asks nobody before somebody buys', async () => {
    const world = await openFunctionWorld()
    const audio = openAudio({ path: '/nowhere' })
    const unnamed = upstreamEngine(
      openUpstream({ web: world.site.web(), wall: Date.now, name: 'It', base: undefined, fix: 'its url' }),
    )
    const nothing = {
      audio,
      browser: openBrowsers({ web: world.site.web(), path: '/nowhere/chromium' }),
      speech: openSpeech({ audio: audio.port, path: '/nowhere' }),
      translator: openTranslator({ path: '/nowhere' }),
      coins: unnamed,
      geocoding: unnamed,
      market: unnamed,
      weather: unnamed,
    }
    const market = await openMarketplace({}, { ...world.ports, engines: { ...world.ports.engines, ...nothing } })
    try {
      const board = engineBoard.of(market.daemon.ctx)
      await board.ready
      const isOffered = async () => (await market.call('GET', '/v1/services/catalog?limit=100')).body.total
      const lacking = [...firstPartyServices.values()].filter((one) => board.lacking(one.needs).length > 0)
      expect(lacking.map(({ slug }) => slug).sort()).toEqual(documented().others)
      expect(documented()).toEqual({
        offered: 16 + 5,
        others: [
          // Programs of this machine, or whom only the operator can name.
          'accessibility_audit',
          'audio_loudness_normalization',
          'crypto_price',
          'page_quality_audit',
          'page_screenshot',
          'pdf_generation',
          'performance_analysis',
          'stock_data',
          'style_guide',
          'translation',
          'weather',
        ],
      })
      // Sixteen, and the first five.
      await expect.poll(isOffered).toBe(documented().offered)
      await market.call('GET', '/health')
      expect(world.asked()).toEqual([])
      const id = await market.serviceId('translation')
      const refused = await market.call('POST', `/v1/services/${id}/purchase`, { body: {} })
      expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } })
      expect(refused.headers.get('retry-after')).not.toBeNull()
    } finally {
      await market.close()
      await world.close()
    }
  })
})
