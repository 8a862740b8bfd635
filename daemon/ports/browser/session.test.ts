import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { type Cdp, CdpError, type CdpListener } from './cdp.ts'
import type { GuardedProxy } from './proxy.ts'
import { openSession } from './session.ts'

/** A browser that attaches its page and goes before it was guarded. */
function goneBrowser(): Cdp {
  const listeners = new Map<string, CdpListener>()
  const targetInfo = { targetId: 'page-1', type: 'page' }
  return {
    on: (event, listener) => void listeners.set(event, listener),
    close: () => undefined,
    send: async ({ method, answer }) => {
      if (method === 'Target.setAutoAttach' || method === 'Browser.setDownloadBehavior') return answer.parse({})
      if (method === 'Target.createTarget')
        listeners.get('Target.attachedToTarget')?.({ sessionId: 's', targetInfo }, '')
      throw new CdpError('The browser stopped.', true)
    },
  }
}

it('fails once, and not again where nobody listens, when the browser goes while its page opens', async () => {
  const unheard: unknown[] = []
  const note = (why: unknown) => unheard.push(why)
  process.on('unhandledRejection', note)
  const proxy: GuardedProxy = {
    port: 1,
    refusals: new Map(),
    close: async () => undefined,
  }
  const screen = { width: 1, height: 1, deviceScaleFactor: 1, mobile: false }
  const web = { mayRead: async () => undefined }
  const signal = new AbortController().signal
  const opened = openSession({ cdp: goneBrowser(), proxy, web, screen, signal, onExceeded: () => undefined })
  await expect(opened).rejects.toMatchObject({ isGone: true })
  await sleep(10)
  process.off('unhandledRejection', note)
  expect(unheard).toEqual([])
})
