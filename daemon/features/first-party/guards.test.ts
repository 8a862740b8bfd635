import { describe, expect, it } from 'vitest'
import { openFunctionWorld } from '../../../fixtures/market/function-world.ts'
import { openMarketplace } from '../../../fixtures/market/marketplace.ts'
import { openAudio } from '../../ports/audio/audio.ts'
import { openSpeech } from '../../ports/speech/speech.ts'
import { openTranslator } from '../../ports/translation/translator.ts'
import { engineBoard } from '../engines/engines.ts'
import { firstPartyServices } from './index.ts'

describe('a marketplace', () => {
  it('with nothing installed offers what needs nothing of this machine, and asks nobody before somebody buys', async () => {
    const world = await openFunctionWorld()
    const audio = openAudio({ path: '/nowhere' })
    const nothing = {
      audio,
      speech: openSpeech({ audio: audio.port, path: '/nowhere' }),
      translator: openTranslator({ path: '/nowhere' }),
    }
    const market = await openMarketplace({}, { ...world.ports, engines: { ...world.ports.engines, ...nothing } })
    try {
      const board = engineBoard.of(market.daemon.ctx)
      await board.ready
      const isOffered = async () => (await market.call('GET', '/v1/services/catalog?limit=100')).body.total
      const lacking = [...firstPartyServices.values()].filter(({ needs }) => board.lacking(needs).length > 0)
      const isAbsent = (slug: string) => lacking.some((one) => one.slug === slug)
      await expect.poll(isOffered).toBe(firstPartyServices.size - lacking.length)
      for (const slug of ['audio_loudness_normalization', 'translation']) expect(isAbsent(slug)).toBe(true)
      await market.call('GET', '/health')
      expect(world.site.asked).toEqual([])
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
