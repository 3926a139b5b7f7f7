// main.ts: signs in, and shows the page or how one gets there.
import { h } from './core/dom'
import { effect, memo, root, untracked } from './core/signal'
import { frame, frameKeys } from './frame'
import { startLive } from './live'
import { signError, signIn, who } from './sign'
import './theme'
import { views } from './views'

const plain = document.getElementById('plain')!

function outside(): HTMLElement {
  return h(
    'main',
    { class: 'plain' },
    () => (signError() ? h('div', { class: 'problem', role: 'alert' }, h('p', null, signError())) : null),
    ...[...plain.cloneNode(true).childNodes].map((n) => n as Node),
  )
}

async function start(): Promise<void> {
  await signIn()
  startLive()
  frameKeys(views)
  const inside = memo(() => !!who())
  let end = (): void => undefined
  effect(() => {
    const is = inside()
    end()
    untracked(() =>
      root((e) => {
        end = e
        document.body.replaceChildren(is ? frame(views) : outside())
      }),
    )
  })
}

void start()
