import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findAnvil } from '../daemon/ports/chain/evm/anvil/find.ts'
import { runPage } from '../fixtures/kit/page.testkit.ts'
import { openTestSigner } from '../fixtures/kit/test-signer.ts'
import { openUser, type User } from '../fixtures/kit/user.ts'
import { OUTSIDE } from '../fixtures/outside/load.ts'

// @slow a real daemon and a real chain

const PASSPHRASE = 'a passphrase of this test'
const pageOf = (name: string) => readFileSync(join(import.meta.dirname, '../docs/how-to', name), 'utf8')

let user: User
let passphraseFile: string
beforeAll(async () => {
  const folder = dirname(findAnvil({ from: OUTSIDE }))
  passphraseFile = join(mkdtempSync(join(tmpdir(), 'souk-passphrase-')), 'passphrase')
  writeFileSync(passphraseFile, PASSPHRASE)
  user = await openUser({
    SOUK_NO_INPUT: '1',
    PATH: `${folder}${delimiter}${process.env.PATH ?? ''}`,
    SOUK_PASSPHRASE_FILE: passphraseFile,
  })
})
afterAll(async () => {
  await user?.close()
  rmSync(dirname(passphraseFile), { recursive: true, force: true })
})

test.each(['settle-on-a-chain.md', 'keep-keys-safe.md'])(
  'how-to/%s runs from its first command to its last',
  async (name) => {
    const page = pageOf(name)
    expect(page).toMatch(/^# .+\n\n```sh\n/)
    await runPage(user, page)
  },
)

test('the keys of that page were encrypted, and the log and the settings do not have the passphrase', async () => {
  const folder = join(user.home, '.local/share/souk/vault/chain')
  for (const name of ['gas.key', 'pay-to.key']) {
    expect(JSON.parse(readFileSync(join(folder, name), 'utf8'))).toMatchObject({ version: 3 })
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
  }
  const files = readdirSync(user.home, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  const holding = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(PASSPHRASE))
  expect(holding.map(({ name }) => name)).toEqual([])
})

test('a wrong passphrase starts nothing, and says so', async () => {
  writeFileSync(passphraseFile, 'not this one')
  const { code, err } = await user.souk('up', '--instance', 'vault', '--port', '0')
  expect([code, err]).toEqual([4, expect.stringMatching(/Wrong passphrase for .*(gas|pay-to)[-\d]*\.key/)])
})

test('the start of how-to/keep-keys-safe.md with a signer sells, and lists its keys', async () => {
  const signer = await openTestSigner()
  try {
    const keys = await signer.setup()
    const [, block = ''] = /```text\n(souk up[\s\S]+?)```/.exec(pageOf('keep-keys-safe.md')) ?? []
    const line = block
      .replace(/--chain \S+ --rpc-url \S+/, '--chain devnet --port 0')
      .replace(/https:\S+/, keys.signer)
      .replace(/0x1{40}/, keys.payToAddress)
      .replace(/0x2{40}/, keys.gasAddress)
    const words = line.split(/[\s\\]+/).filter((word) => word !== '')
    expect(words).toContain('--signer')
    const { code, err } = await user.souk(...words.slice(1))
    expect([code, err]).toEqual([0, expect.anything()])
    const listed = await user.json('admin', 'keys', 'list', '--instance', 'signed')
    expect(listed.keys).toMatchObject([
      { role: 'gas', lies: 'signer', where: new URL(keys.signer).origin },
      { role: 'pay-to', lies: 'signer' },
    ])
    await user.json('wallet', 'fund', 'payer', '--instance', 'signed')
    await user.json('buy', 'qr_code', '-i', 'data=signed', '--instance', 'signed', '--as', 'payer')
    expect(readdirSync(join(user.home, '.local/share/souk/signed/chain'))).not.toContain('gas.key')
  } finally {
    await user.souk('down', '--instance', 'signed')
    signer.close()
  }
})
