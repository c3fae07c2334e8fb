import DefaultTheme from 'vitepress/theme';
import './manual.css';

export default DefaultTheme;
