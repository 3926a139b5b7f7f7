import { h } from './core/dom'
document.body.append(h('p', null, 'x'))
