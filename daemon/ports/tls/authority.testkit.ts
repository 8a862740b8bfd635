import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type TlsOptions } from 'node:tls'

export type Leaf = { readonly key: string; readonly cert: string }
type Wanted = {
  readonly name: string
  /** `YYYYMMDDHHMMSSZ` */
  readonly from?: string
  readonly to?: string
  readonly key?: 'ec' | 'rsa1024' | 'rsa2048'
  readonly digest?: 'sha1' | 'sha256'
  /** Lines of OpenSSL's extension section. */
  readonly extensions?: string
  readonly issuer?: 'root' | 'intermediate' | 'self'
}

/** A certificate authority of a test's own, with an intermediate, kept in a temporary folder; made by OpenSSL. */
export function openAuthority() {
  const dir = mkdtempSync(join(tmpdir(), 'souk-ca-'))
  const { run, makeKey, sign } = toolsIn(dir)
  makeKey('root')
  const own = ['-new', '-x509', '-key', 'root.key', '-out', 'root.pem', '-days', '3650', '-subj', '/CN=Test Root']
  run('req', ...own, '-config', 'ca.cnf')
  makeKey('intermediate')
  const extensions = 'basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign'
  const intermediate = sign('intermediate', { by: 'root', extensions })
  let count = 0
  return {
    root: readFileSync(join(dir, 'root.pem'), 'utf8'),
    intermediate,
    leaf({ name, key = 'ec', issuer = 'root', extensions: own = '', ...how }: Wanted): Leaf {
      count += 1
      const file = `leaf${count}`
      makeKey(file, key)
      const cert = sign(file, { by: issuer, ...how, extensions: `subjectAltName=DNS:${name}\n${own}` })
      return { key: readFileSync(join(dir, `${file}.key`), 'utf8'), cert }
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  }
}

function toolsIn(dir: string) {
  const run = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'pipe' })
  for (const [file, text] of Object.entries({ 'ca.cnf': settings, 'index.txt': '', serial: '01' })) {
    writeFileSync(join(dir, file), text)
  }

  function makeKey(name: string, kind: Wanted['key'] = 'ec'): void {
    if (kind === 'ec') run('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', `${name}.key`)
    else run('genrsa', '-out', `${name}.key`, kind.slice('rsa'.length))
  }

  function sign(name: string, wanted: Signing): string {
    const { by, from = '20200101000000Z', to = '20490101000000Z', digest = 'sha256', extensions } = wanted
    writeFileSync(join(dir, `${name}.ext`), extensions)
    run('req', '-new', '-key', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`, '-config', 'ca.cnf')
    const self = ['-selfsign', '-keyfile', `${name}.key`]
    const authority = by === 'self' ? self : ['-keyfile', `${by}.key`, '-cert', `${by}.pem`]
    const files = ['-in', `${name}.csr`, '-out', `${name}.pem`, '-extfile', `${name}.ext`]
    const how = ['-notext', '-md', digest, '-startdate', from, '-enddate', to]
    run('ca', '-batch', '-config', 'ca.cnf', ...how, ...files, ...authority)
    return readFileSync(join(dir, `${name}.pem`), 'utf8')
  }

  return { run, makeKey, sign }
}

type Signing = Pick<Wanted, 'from' | 'to' | 'digest'> & { readonly by: string; readonly extensions: string }

const settings = `
[ca]
default_ca = own
[own]
database = index.txt
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = name
x509_extensions = root
[name]
[root]
basicConstraints = critical,CA:TRUE
`

/** A TLS listener on loopback; whatever connects is shaken hands with and then left alone. */
export async function openTlsListener({ staple, ...options }: TlsOptions & { readonly staple?: Buffer }) {
  const server = createServer(options, (socket) => socket.on('error', () => socket.destroy()))
  if (staple) server.on('OCSPRequest', (_certificate, _issuer, callback) => callback(null, staple))
  server.on('tlsClientError', () => undefined)
  const sockets = new Set<{ destroy: () => void }>()
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** How often anybody has connected. */
    connections: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
