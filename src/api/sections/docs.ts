import { bytes, endpointsWith, html, open } from '../endpoint/define.ts'

const endpoint = endpointsWith({ origin: 'ours', section: 'Pages' })

export const docsApi = {
  getDocs: endpoint({
    method: 'GET',
    path: '/docs',
    access: open,
    reply: bytes('text/html; charset=utf-8'),
    errors: [],
    summary: 'API reference page, served locally',
  }),

  getHome: endpoint({
    method: 'GET',
    path: '/',
    access: open,
    reply: html,
    errors: [],
    summary: 'small home page',
  }),
}
