"""The addresses that MiniEdit's hosts have by themselves, and those of routers, which follow."""

from ipaddress import IPv4Interface, IPv4Network

from netlab.errors import SpecificationError
from netlab.topology import addressing

PREFIX = 8  # what Mininet's Node.setIP gives an address that has none


def host_address(address, number, base):
    """A host's address with the length of its prefix; if it has none, its number in a subnet."""
    if not address:
        try:
            subnet = IPv4Network(base if "/" in base else f"{base}/24", strict=False)
            address = str(subnet[number])
        except ValueError:
            raise SpecificationError(f"ipBase = {base!r}: a subnet, such as '10.0.0.0/8'") from None
        except IndexError:
            raise SpecificationError(
                f"its number is {number}, and ipBase = {base!r} has no such address: give it an ip"
            ) from None
    return address if "/" in address else f"{address}/{PREFIX}"


def router_addresses(routers, hosts, switches, links):
    """The addresses of routers, where the hosts beside them say enough.

    Parameters
    ----------
    routers : list of str
    hosts : list of Host
    switches : list of Switch
    links : list of Link

    Returns
    -------
    addresses : dict of str
        By (router, link).
    refused : list of str
        Why others have none.
    """
    addresses, refused = {}, []
    used = [IPv4Interface(host.address).network for host in hosts]
    for part in addressing.joined(switches, links):
        here = [(node, link) for node, link in part if node in routers]
        near = [host for host in hosts if host.name in [node for node, _ in part]]
        try:
            if here and near:
                found = _beside_hosts(sorted({node for node, _ in here}), near)
                addresses |= dict.fromkeys(here, found)
            elif here:
                subnet = _free_subnet(len(here), used)
                used.append(subnet)
                for number, place in enumerate(here, start=1):
                    addresses[place] = f"{subnet[number]}/{subnet.prefixlen}"
        except SpecificationError as error:
            refused.append(str(error))
    return addresses, refused


def _free_subnet(interfaces, used):
    """A subnet for interfaces of routers, beside no host."""
    length = 30 if interfaces <= 2 else 24
    for number in range(1, 256):
        subnet = IPv4Network(f"192.168.{number}.0/{length}")
        if interfaces + 2 <= subnet.num_addresses and not any(map(subnet.overlaps, used)):
            return subnet
    raise SpecificationError(
        f"netlab has no subnet left in 192.168.0.0/16 for {interfaces} interfaces of routers: put"
        " a host with a defaultRoute beside them"
    )


def _beside_hosts(routers, hosts):
    """The address of the only router beside some hosts, in their subnet."""
    if len(routers) > 1:
        raise SpecificationError(
            f"routers {' and '.join(routers)} are joined to the same hosts"
            f" ({', '.join(host.name for host in hosts)}), and the file does not say which has"
            " which address: put a router between them, or describe it as a Topology"
        )
    for host in hosts:
        if not host.route:
            raise SpecificationError(
                f"host {host.name} lacks a defaultRoute: the address of router {routers[0]}, beside"
                " it, follows from it"
            )
        if host.route != hosts[0].route:
            raise SpecificationError(
                f"defaultRoute = {host.route!r} of host {host.name}, but {hosts[0].route!r} of host"
                f" {hosts[0].name}: both must be the address of router {routers[0]}"
            )
    return f"{hosts[0].route}/{hosts[0].address.partition('/')[2]}"
