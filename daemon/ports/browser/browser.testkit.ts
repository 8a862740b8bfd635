import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { toolPath } from '../../../fixtures/kit/tools.ts'
import type { Site } from '../web/site.testkit.ts'

/** The browser that tests drive; undefined: they are left out by name. */
export const chromium = toolPath('chromium-headless-shell')

/** What nobody may reach: it counts connections and packets, on one port of loopback, in both kinds of addresses. */
export async function openVictim() {
  const count = { connections: 0, packets: 0 }
  const sockets = new Set<Socket>()
  const hear = (socket: Socket) => {
    count.connections += 1
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  }
  const heard = () => {
    count.packets += 1
  }
  const first = await listening(hear, { port: 0, host: '127.0.0.1' })
  const { port } = first.address() as AddressInfo
  const servers = [first]
  const datagrams = [await bound(createSocket('udp4', heard), { port, address: '127.0.0.1' })]
  if (hasVersion6()) {
    servers.push(await listening(hear, { port, host: '::1' }))
    datagrams.push(await bound(createSocket('udp6', heard), { port, address: '::1' }))
  }
  return {
    port,
    count,
    close: async () => {
      for (const udp of datagrams) udp.close()
      const closed = servers.map((server) => once(server, 'close'))
      for (const server of servers) server.close()
      for (const socket of sockets) socket.destroy()
      await Promise.all(closed)
    },
  }
}

function hasVersion6(): boolean {
  return (networkInterfaces()['lo'] ?? []).some(({ address }) => address === '::1')
}

async function listening(hear: (socket: Socket) => void, at: { port: number; host: string }) {
  const server = createServer(hear)
  server.listen(at)
  await once(server, 'listening')
  return server
}

async function bound(udp: UdpSocket, at: { port: number; address: string }) {
  udp.bind(at)
  await once(udp, 'listening')
  return udp
}

/** Where loopback and its like hide. */
const hosts = [
  '127.0.0.1',
  'localhost',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '2130706433',
  '0x7f000001',
  '0.0.0.0',
  'site.test',
]

/** A page that tries every way out that a page has, to one port of this machine. */
function hostilePage(port: number): string {
  const at = (path: string, host = '127.0.0.1') => `http://${host}:${port}/${path}`
  const ws = `127.0.0.1:${port}`
  const images = hosts.map((host, i) => `<img src="${at(`spelling-${i}`, host)}">`).join('')
  return `<!doctype html><title>hostile</title>
<link rel="prefetch" href="${at('prefetch')}"><link rel="preconnect" href="${at('')}">
<link rel="dns-prefetch" href="//localhost:${port}"><link rel="preload" as="fetch" href="${at('preload')}">
<link rel="stylesheet" href="${at('sheet.css')}"><link rel="icon" href="${at('icon')}"><link rel="manifest" href="${at('manifest')}">
<script type="speculationrules">{"prefetch":[{"urls":["${at('speculated')}"]}],"prerender":[{"urls":["${at('prerendered')}"]}]}</script>
<style>@import url(${at('import.css')}); body { background: url(${at('css')}) } @font-face { font-family: x; src: url(${at('font')}) } p { font-family: x }</style>
<p>text</p>${images}<img src="https://127.0.0.1:${port}/tls"><img src="ftp://127.0.0.1:${port}/ftp"><img src="http://169.254.169.254/latest">
<iframe src="${at('frame')}"></iframe><iframe src="file:///etc/passwd"></iframe><iframe src="view-source:${at('source')}"></iframe>
<iframe src="chrome://settings"></iframe><iframe src="/redirect"></iframe><iframe src="/redirect-file"></iframe><img src="/redirect">
<object data="${at('object')}"></object><embed src="${at('embed')}"><video src="${at('video')}" autoplay></video><audio src="${at('audio')}" autoplay></audio>
<form id="f" method="post" target="t" action="${at('form')}"><input name="a" value="b"></form><iframe name="t"></iframe>
<form id="g" method="post" target="u" action="/posted"><input name="a" value="b"></form><iframe name="u"></iframe>
<a id="d" download href="${at('download')}">x</a><a id="p" ping="${at('ping')}" href="#x">y</a>
<script>
const tries = [
  () => fetch('${at('fetch')}'), () => fetch('${at('cors')}', { mode: 'no-cors' }),
  () => fetch('${at('post')}', { method: 'POST', mode: 'no-cors', body: 'x' }), () => fetch('/posted', { method: 'POST', body: 'x' }),
  () => fetch('file:///etc/passwd'), () => navigator.sendBeacon('${at('beacon')}', 'x'), () => navigator.sendBeacon('/posted', 'x'),
  () => new EventSource('${at('events')}'), () => new WebSocket('ws://${ws}/'), () => new WebSocket('wss://${ws}/'),
  () => new WebTransport('https://${ws}/'), () => new WebTransport('https://[::1]:${port}/'), () => new WebSocket('ws://[::1]:${port}/'), () => window.open('${at('popup')}'), () => document.getElementById('f').submit(),
  () => document.getElementById('g').submit(), () => document.getElementById('d').click(), () => document.getElementById('p').click(),
  () => new XMLHttpRequest().open('GET', '${at('sync')}', false), () => import('${at('module.js')}'),
  () => new Worker(URL.createObjectURL(new Blob(["fetch('${at('worker')}',{mode:'no-cors'});fetch('${at('worker-post')}',{method:'POST',mode:'no-cors'});fetch('" + location.origin + "/posted',{method:'POST'});fetch('" + location.origin + "/from-worker')"]))),
  () => new SharedWorker(URL.createObjectURL(new Blob(["fetch('${at('shared')}',{mode:'no-cors'})"]))),
  () => navigator.serviceWorker.register('/service.js'),
  () => { const p = new RTCPeerConnection({ iceServers: [{ urls: ['stun:${ws}', 'stun:localhost:${port}', 'stun:[::1]:${port}'] }, { urls: ['turn:${ws}?transport=udp', 'turn:${ws}?transport=tcp'], username: 'a', credential: 'b' }] });
    p.createDataChannel('x'); return p.createOffer().then((o) => p.setLocalDescription(o)) },
  () => { const x = new XMLHttpRequest(); x.open('GET', '${at('xhr')}'); x.send() },
]
window.tried = 0
for (const one of tries) try { window.tried += 1; Promise.resolve(one()).catch(() => {}) } catch {}
</script>`
}

/** The worker of the page above, which lives on its own. */
const serviceWorker = (port: number) =>
  `self.addEventListener('install', () => { fetch('http://127.0.0.1:${port}/service', { mode: 'no-cors' }); fetch('/posted', { method: 'POST', body: 'x' }) })`

/** That page, and others that lead away by themselves. */
export const hostilePages = (port: number): Site['pages'] => ({
  '/': { body: hostilePage(port) },
  '/service.js': { headers: { 'content-type': 'text/javascript' }, body: serviceWorker(port) },
  '/redirect': { status: 302, headers: { location: `http://127.0.0.1:${port}/redirected` } },
  '/redirect-file': { status: 302, headers: { location: 'file:///etc/passwd' } },
  '/posted': { body: 'posted' },
  '/from-worker': { body: 'x' },
  '/meta': { body: `<meta http-equiv="refresh" content="0;url=http://127.0.0.1:${port}/meta"><p>x` },
  '/script': { body: `<p>x<script>location = 'http://127.0.0.1:${port}/location'</script>` },
  '/form': {
    body: `<form method="post" action="http://127.0.0.1:${port}/form"></form><script>document.forms[0].submit()</script>`,
  },
  '/to-file': { body: `<p>x<script>location = 'file:///etc/passwd'</script>` },
  '/to-view-source': { body: `<p>x<script>location = 'view-source:http://127.0.0.1:${port}/'</script>` },
  '/to-chrome': { body: `<p>x<script>location = 'chrome://version'</script>` },
  '/to-data': { body: `<p>x<script>location = 'data:text/html,<p>data'</script>` },
  '/file': {
    headers: { 'content-disposition': 'attachment; filename=x.bin', 'content-type': 'application/zip' },
    body: 'x',
  },
})

const LOOK_MS = 50
const MAX_LOOKS = 400

/** Whether no process of a group is left, soon. */
export async function isGroupGone(group: number): Promise<boolean> {
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    try {
      process.kill(-group, 0)
    } catch {
      return true
    }
    await sleep(LOOK_MS)
  }
  return false
}
