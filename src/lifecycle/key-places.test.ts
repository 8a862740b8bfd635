import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { checkChain, keptChain } from './chain-options.ts'
import { Launch, launchWords } from './launch.ts'
import { keyFilesOf, passphraseIn } from './passphrase.ts'

const folder = mkdtempSync(join(tmpdir(), 'souk-keys-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const signer = 'exec:/opt/sign --pin=1234'
const [payToAddress, gasAddress] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
const launch = (change: object) => Launch.parse({ chain: 'base-sepolia', rpcUrl: ['http://127.0.0.1:1'], ...change })
const refusal = (change: object) => () => checkChain(launch(change))

describe('a key', () => {
  test('lies in a file or with the signer, each of the two in its own place', () => {
    expect(refusal({ payToKeyFile: 'a', gasKeyFile: 'b' })).not.toThrow()
    expect(refusal({ payToKeyFile: 'a', gasAddress, signer })).not.toThrow()
    expect(refusal({ payToKeyFile: 'a', payToAddress, gasAddress, signer })).toThrow(/one place.*--pay-to-key-file/)
    expect(refusal({ payToKeyFile: 'a', gasAddress })).toThrow(/--gas-address needs --signer/)
    expect(refusal({ payToKeyFile: 'a', signer })).toThrow(/needs --gas-key-file/)
    expect(refusal({ chain: 'devnet', rpcUrl: [], payToAddress, gasAddress, signer })).not.toThrow()
  })

  test('that moves to the signer is no longer looked for in its file, and the other way round', () => {
    const inFiles = launch({ payToKeyFile: 'a', gasKeyFile: 'b' })
    const moved = keptChain(Launch.parse({ gasAddress, signer }), inFiles)
    expect(moved).toMatchObject({ payToKeyFile: 'a', gasAddress })
    expect(moved.gasKeyFile).toBeUndefined()
    const back = keptChain(Launch.parse({ gasKeyFile: 'c', signer }), moved)
    expect(back).toMatchObject({ payToKeyFile: 'a', gasKeyFile: 'c' })
    expect(back.gasAddress).toBeUndefined()
  })

  test('of a devnet lies in the data folder; with the signer it has no file', () => {
    const places = { data: folder } as never // as it needs
    expect(keyFilesOf({ places }, { chain: 'devnet' } as Launch).map(({ file }) => file)).toEqual([
      join(folder, 'chain', 'gas.key'),
      join(folder, 'chain', 'pay-to.key'),
    ])
    expect(keyFilesOf({ places }, launch({ payToAddress, gasAddress, signer })).map(({ file }) => file)).toEqual([
      undefined,
      undefined,
    ])
  })

  test('that replaced another one on a devnet stands after it, and no file of another name with them', () => {
    const places = { data: join(folder, 'rotated') } as never // as it needs
    const chain = join(folder, 'rotated', 'chain')
    mkdirSync(chain, { recursive: true })
    for (const name of ['gas.key', 'pay-to-10.key', 'pay-to-2.key', 'pay-to.key', 'pay-to-2.key.1.tmp', 'other-2.key'])
      writeFileSync(join(chain, name), '')
    expect(keyFilesOf({ places }, { chain: 'devnet' } as Launch)).toEqual([
      { role: 'gas', file: join(chain, 'gas.key') },
      ...['pay-to.key', 'pay-to-2.key', 'pay-to-10.key'].map((name) => ({ role: 'pay-to', file: join(chain, name) })),
    ])
  })
})

test('a signer is no word of the command line of the daemon', () => {
  expect(launchWords({ signer, gasAddress }).join(' ')).toBe(`--gas-address=${gasAddress}`)
})

test('a passphrase is what the descriptor has, without its line break', () => {
  const file = join(folder, 'passphrase')
  writeFileSync(file, 'three words here\n')
  const fd = openSync(file, 'r')
  expect(passphraseIn({ passphraseFd: fd })).toBe('three words here')
  closeSync(fd)
  expect(passphraseIn({ passphraseFd: undefined })).toBeUndefined()
  expect(() => passphraseIn({ passphraseFd: 60_000 })).toThrow('--passphrase-fd 60000 cannot be read')
})
