import { isIPv4 } from 'node:net';
import { Networks } from './networks.js';

/**
 * IPv4 that is no public server: IANA's special-purpose registry, multicast, the reserved
 * class E, and one public address that cloud machines reach their own host by. Then what
 * is not public of the IPv6 below.
 */
const REFUSED = new Networks(
  '0.0.0.0/8', // this network; 0.0.0.0 connects to loopback
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; 100.100.100.200 is a cloud's metadata
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's host
  '169.254.0.0/16', // link-local; 169.254.169.254 is every cloud's metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '2001::/23', // protocol assignments, of them Teredo, which hides an IPv4 address
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which hides an IPv4 address
  '3fff::/20', // documentation
);
/**
 * The only IPv6 in public use. Outside it lie loopback, unspecified, unique local,
 * link-local, site-local, multicast, and the forms that hide an IPv4 address: mapped
 * (::ffff:0:0/96), compatible (::/96) and NAT64 (64:ff9b::/96, 64:ff9b:1::/48).
 */
const GLOBAL_V6 = new Networks('2000::/3');

/**
 * True for an address that a client's URL may lead to. What is no plain IP address (text,
 * a zone such as `fe80::1%eth0`) is refused. Names and the spellings of hosts (`0x7f.1`,
 * `2130706433`) never come here: the URL parser and DNS go first.
 */
export const isPublicAddress = (address: string): boolean =>
  !address.includes('%') && (isIPv4(address) || GLOBAL_V6.has(address)) && !REFUSED.has(address);
