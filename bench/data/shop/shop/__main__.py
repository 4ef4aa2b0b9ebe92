from .cart import Cart
from .checkout import pay
from .prices import PriceList

cart = Cart()
cart.add("PEAR", 3)
cart.add("VOUCHER-10")
print(pay(cart, PriceList({"PEAR": 45, "TEA": 310})))
