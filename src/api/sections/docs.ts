import { bytes, endpointsWith, html, open } from '../endpoint/define.ts'

const endpoint = endpointsWith({ origin: 'ours', section: 'Pages' })

export const docsApi = {
  getDocs: endpoint({
    path: '/docs',
    access: open,
    reply: bytes('text/html; charset=utf-8'),
    summary: 'API reference page, served locally',
  }),

  getHome: endpoint({ path: '/', access: open, reply: html, summary: 'small home page' }),
}
