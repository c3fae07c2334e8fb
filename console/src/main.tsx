import { render } from 'preact';
import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/parts.css';
import './styles/views.css';
import { refreshSession } from './api/session';
import { App } from './app';

void refreshSession();
render(<App />, document.getElementById('app') as HTMLElement);
