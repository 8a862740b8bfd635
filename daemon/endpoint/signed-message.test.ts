import { privateKeyToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { DAY_MS, SECOND_MS } from '../../src/core/time.ts'
import { openRecover } from '../ports/chain/signature.ts'
import { signerOf } from './signed-message.ts'

/* How old a signature may be, to the second: over the network a second passes by itself. */

const account = privateKeyToAccount(`0x${'1'.repeat(64)}`)
const WALL_S = 1_800_000_000
const recover = await openRecover()

async function signerAt(secondsLater: number) {
  const timestamp = String(WALL_S)
  const signature = await account.signMessage({ message: `souk test v1\ntimestamp: ${timestamp}` })
  const wall = (WALL_S + secondsLater) * SECOND_MS
  return signerOf({ recover }, { signature, timestamp, lines: ['souk test v1'], wall })
}

describe('a signed message', () => {
  test.each([-300, 0, 300])('that is %s s old counts', async (age) => {
    expect(await signerAt(age)).toBe(account.address.toLowerCase())
  })

  test.each([-301, 301, DAY_MS / SECOND_MS])('that is %s s old does not', async (age) => {
    await expect(signerAt(age)).rejects.toThrow('timestamp: must be within 300 s of the current time.')
  })
})
