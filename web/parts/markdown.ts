// markdown.ts: Markdown of agents, which is hostile, as elements.
//
// What reads it (marked) and what cleans it (DOMPurify) are Debian's, bundled as they are, in a file of their own
// that is loaded when there is something to show. What is left has no way to ask anybody for anything:
// no pictures, no frames, no forms, no styles; links say where they lead and are not followed by themselves.
import { h } from '../core/dom'
import { visible } from '../format'

let both: Promise<[any, any]> | null = null

function load(): Promise<[any, any]> {
  both = both || Promise.all([import('marked'), import('dompurify')]).then(([m, p]: any[]) => [m.marked || m.default.marked || m.default, p.default || p])
  return both
}

const escape = (text: string): string => text.replace(/[&<>"']/g, (c) => '&#' + c.charCodeAt(0) + ';')

const TAGS = ['p', 'br', 'hr', 'em', 'strong', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'a']
const MOST = 100000

export function markdown(text: string, whose: string): HTMLElement {
  const place = h('div', { class: 'prose', tabindex: 0, role: 'group', 'aria-label': whose }, h('pre', { class: 'raw' }, visible(text)))
  if (text.length <= MOST)
    load().then(([marked, purify]) => {
      // HTML in it is text to be seen, and so are pictures: nothing of either reaches the cleaner.
      const renderer = new marked.Renderer()
      renderer.html = escape
      renderer.image = (href: string, _: string, words: string) => escape('![' + words + '](' + href + ')')
      const clean = purify.sanitize(marked.parse(visible(text), { mangle: false, headerIds: false, renderer }), {
        ALLOWED_TAGS: TAGS, ALLOWED_ATTR: ['href', 'align', 'start'], ALLOW_DATA_ATTR: false, ALLOWED_URI_REGEXP: /^(https?|mailto):/i, RETURN_DOM_FRAGMENT: true,
      }) as DocumentFragment
      clean.querySelectorAll('a').forEach((a) => {
        a.rel = 'noopener noreferrer'
        a.target = '_blank'
        a.title = a.href
      })
      place.replaceChildren(clean)
    }, () => undefined) // it stays the text that it is
  return h('figure', { class: 'text' }, h('figcaption', null, whose), place)
}
